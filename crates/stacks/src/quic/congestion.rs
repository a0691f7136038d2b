/// Which of a stack's own congestion controllers runs: CUBIC, NewReno, and one that draws numbers which no seed reaches. The types
/// of their parameters are those of the crate, where it is called.
macro_rules! congestion {
    ($drawing:ident, $name:literal, $config:ty) => {
        /// Which of the stack's own congestion controllers runs.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Congestion {
            #[default]
            Cubic,
            Newreno,
            /// It draws numbers that no seed reaches: see `unrepeatable`.
            $drawing,
        }

        impl Congestion {
            /// Whether it draws numbers that no seed reaches.
            pub(super) fn draws(self) -> bool {
                self == Congestion::$drawing
            }

            /// As a scenario names it.
            pub(super) fn quoted(self) -> &'static str {
                match self {
                    Congestion::Cubic => "\"cubic\"",
                    Congestion::Newreno => "\"newreno\"",
                    Congestion::$drawing => concat!("\"", $name, "\""),
                }
            }

            pub(super) fn factory(self, initial_window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
                macro_rules! with_window {
                    ($of:ty) => {{
                        let mut config = <$of>::default();
                        if let Some(w) = initial_window {
                            config.initial_window(w);
                        }
                        Arc::new(config)
                    }};
                }
                match self {
                    Congestion::Cubic => with_window!(CubicConfig),
                    Congestion::Newreno => with_window!(NewRenoConfig),
                    Congestion::$drawing => with_window!($config),
                }
            }
        }
    };
}
