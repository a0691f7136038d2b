//! New parameters that have been read and checked, on their way to the element that knows their type.

use std::any::Any;
use std::sync::Arc;

/// New values for the parameters of one element: read once, before a run; made use of any number of times.
#[derive(Clone, Debug)]
pub struct Setting(Arc<dyn Any + Send + Sync>);

impl Setting {
    pub fn new(parameters: impl Any + Send + Sync) -> Setting {
        Setting(Arc::new(parameters))
    }

    /// The parameters, for an element of the kind that has read them.
    pub fn get<P: Clone + 'static>(&self) -> P {
        self.0.downcast_ref::<P>().expect("new parameters go to the element that has read them").clone()
    }
}

/// The very same.
impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_read_comes_out_with_its_type_again() {
        let new = Setting::new((7u32, Some(Setting::new("inner".to_string()))));
        let (number, inner): (u32, Option<Setting>) = new.get();
        assert_eq!((number, inner.expect("it was put in").get::<String>()), (7, "inner".to_string()));
        assert_eq!(new, new.clone());
        assert_ne!(Setting::new(1), Setting::new(1));
    }
}
