//! What the stack's template says about functions and queues.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

/// The template, with its intrinsic functions reduced to their arguments.
#[derive(Clone, Debug)]
pub struct Template(Value);

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The time-out of its invocations.
    pub timeout: Duration,
    /// Its environment: a parameter's default, or else the name of the resource that the stack
    /// fills in.
    pub variables: BTreeMap<String, String>,
    /// The queues that invoke it, by their names in the template.
    pub queues: Vec<String>,
}

/// A queue that a function reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkQueue {
    /// For how long a received message is hidden.
    pub hidden: Duration,
    /// The dead-letter queue, by its name in the template; `None` if there is none.
    pub dead_letters: Option<String>,
}

impl Template {
    /// Reads the template of this checkout.
    ///
    /// # Panics
    /// Panics if it is not YAML.
    #[must_use]
    pub fn read() -> Self {
        Self(serde_saphyr::from_str(include_str!("../../../../infra/template.yaml")).unwrap())
    }

    /// Returns the names of the resources of a type.
    pub fn named<'t>(&'t self, kind: &'t str) -> impl Iterator<Item = &'t str> {
        let resources = self.0["Resources"].as_object().unwrap().iter();
        resources.filter(move |(_, resource)| resource["Type"] == kind).map(|(name, _)| name.as_str())
    }

    /// Returns a function.
    ///
    /// # Panics
    /// Panics if there is none with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Function {
        let function = self.properties(name, "AWS::Serverless::Function");
        let variables = |of: &Value| {
            let of = of["Environment"]["Variables"].as_object().cloned().unwrap_or_default();
            of.into_iter().map(|(name, value)| (name, self.value(&value)))
        };
        let all = variables(&self.0["Globals"]["Function"]).chain(variables(function)).collect();
        let sources = function["Events"].as_object().into_iter().flat_map(|events| events.values());
        let queues = sources.filter(|source| source["Type"] == "SQS").map(|source| &source["Properties"]["Queue"]);
        Function { timeout: seconds(&function["Timeout"]), variables: all, queues: queues.map(resource).collect() }
    }

    /// Returns a queue.
    ///
    /// # Panics
    /// Panics if there is none with this name.
    #[must_use]
    pub fn queue(&self, name: &str) -> WorkQueue {
        let queue = self.properties(name, "AWS::SQS::Queue");
        let dead_letters = queue["RedrivePolicy"].get("deadLetterTargetArn").map(resource);
        WorkQueue { hidden: seconds(&queue["VisibilityTimeout"]), dead_letters }
    }

    /// Returns the conditions under which a property of a resource has values, and these, as the
    /// template writes them (`!If`).
    ///
    /// # Panics
    /// Panics if there is no resource of this name and type.
    #[must_use]
    pub fn property(&self, name: &str, kind: &str, property: &str) -> &Value {
        &self.properties(name, kind)[property]
    }

    /// Returns the rates at which a rule may invoke a function, as the template or its parameter
    /// names them; none if no rule does.
    ///
    /// # Panics
    /// Panics if there is no function of this name.
    #[must_use]
    pub fn rates(&self, function: &str) -> Vec<String> {
        let sources = self.properties(function, "AWS::Serverless::Function")["Events"].as_object();
        let rules =
            sources.into_iter().flat_map(|events| events.values()).filter(|source| source["Type"] == "Schedule");
        let rates = rules.flat_map(|rule| {
            let rate = &rule["Properties"]["Schedule"];
            let allowed = rate.as_str().and_then(|name| self.0["Parameters"][name]["AllowedValues"].as_array());
            allowed.cloned().unwrap_or_else(|| vec![rate.clone()])
        });
        rates.map(|rate| rate.as_str().unwrap().to_owned()).collect()
    }

    fn properties(&self, name: &str, kind: &str) -> &Value {
        let resource = &self.0["Resources"][name];
        assert_eq!(resource["Type"], kind, "{name} in the template");
        &resource["Properties"]
    }

    /// Returns the value of a variable in a stack with only the required parameters.
    fn value(&self, value: &Value) -> String {
        let default = value.as_str().map(|name| &self.0["Parameters"][name]["Default"]);
        let value = default.filter(|default| !default.is_null()).unwrap_or(value);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
}

/// Returns the resource of `!GetAtt NAME.ATTRIBUTE`.
fn resource(reference: &Value) -> String {
    let reference = reference.as_str().unwrap();
    reference.split_once('.').map_or(reference, |(name, _)| name).to_owned()
}

/// A missing time-out counts as 0.
fn seconds(value: &Value) -> Duration {
    Duration::from_secs(value.as_u64().unwrap_or(0))
}
