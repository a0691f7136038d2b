//! What an element knows of the past, on its way from the end of one run to the beginning of the next.

use std::any::Any;

/// The past of one element: taken from it when its run is over, and handed to one that was built alike.
pub struct Past(Box<dyn Any + Send>);

impl Past {
    pub fn new(known: impl Any + Send) -> Past {
        Past(Box::new(known))
    }

    /// For an element that knows nothing of it.
    pub fn nothing() -> Past {
        Past::new(())
    }

    /// What is known, for an element of the kind that knew it.
    pub fn get<T: 'static>(self) -> T {
        *self.0.downcast().expect("a past goes to an element like the one that it was taken from")
    }
}

/// What a stage leaves to one that is built alike and begins later.
#[derive(Default)]
pub struct Left {
    /// What its queue knows; `None`: it knows something, and cannot hand it on.
    pub queue: Option<Past>,
    /// Where the long history of its link begins in this run, if it has one: known, it saves the later stage time, and changes nothing else.
    pub link: Option<Past>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_comes_out_with_its_type_again() {
        let past = Past::new((7u32, vec![Past::new("inner".to_string()), Past::nothing()]));
        let (number, inner): (u32, Vec<Past>) = past.get();
        assert_eq!((number, inner.len()), (7, 2));
        assert_eq!(inner.into_iter().next().expect("it was put in").get::<String>(), "inner");
    }
}
