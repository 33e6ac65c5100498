//! What the environment says about telemetry, by the variables of OpenTelemetry's specification.
//! The SDK reads most of them itself; these decide whether anything is sent at all.

use std::time::Duration;

/// The longest wait for an answer, unless the environment says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often figures are sent, unless the environment says otherwise.
const INTERVAL: Duration = Duration::from_secs(60);

/// The samplers that the SDK has.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// What is sent, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Spans; `None` if none are sent.
    pub(super) traces: Option<Signal>,
    /// Figures, and how often; `None` if none are sent.
    pub(super) metrics: Option<(Signal, Duration)>,
    /// What cannot be obeyed, for people. Nothing is sent but what can.
    pub(super) complaints: Vec<String>,
}

/// Where one kind of telemetry is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    /// The variable that says so.
    pub(super) variable: String,
    /// The longest wait for an answer.
    pub(super) timeout: Duration,
}

impl Settings {
    /// Reads the environment: `read` returns the value of a variable, `None` if it is not set.
    pub(super) fn read(read: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| read(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let mut settings = Self::default();
        if read("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return settings;
        }
        settings.traces = settings.signal("TRACES", &read);
        settings.metrics = settings.signal("METRICS", &read).map(|signal| {
            let interval = settings.duration("OTEL_METRIC_EXPORT_INTERVAL", &read).unwrap_or(INTERVAL);
            (signal, interval)
        });
        if settings.traces.is_some()
            && let Some(sampler) = read("OTEL_TRACES_SAMPLER").filter(|name| !SAMPLERS.contains(&name.as_str()))
        {
            let known = SAMPLERS.join(", ");
            let unknown = format!("OTEL_TRACES_SAMPLER is `{sampler}`, so all spans are sent; known are {known}");
            settings.complaints.push(unknown);
        }
        settings
    }

    /// Returns where a kind of telemetry is sent; `None` if it is not.
    fn signal(&mut self, kind: &str, read: &impl Fn(&str) -> Option<String>) -> Option<Signal> {
        if read(&format!("OTEL_{kind}_EXPORTER")).is_some_and(|exporter| exporter != "otlp") {
            return None;
        }
        // A variable of one kind takes precedence over that of all.
        let names = |what: &str| [format!("OTEL_EXPORTER_OTLP_{kind}_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
        let set = |what: &str| names(what).into_iter().find(|name| read(name).is_some());
        let variable = set("ENDPOINT")?;
        if let Some(name) = set("PROTOCOL")
            && let Some(protocol) = read(&name).filter(|protocol| protocol != "http/protobuf")
        {
            self.complaints.push(format!(
                "{name} is `{protocol}`, but only `http/protobuf` is spoken: {} are not sent",
                kind.to_lowercase()
            ));
            return None;
        }
        if let Some(name) = set("COMPRESSION")
            && let Some(coding) = read(&name).filter(|coding| coding != "none")
        {
            let kind = kind.to_lowercase();
            self.complaints.push(format!("{name} is `{coding}`, but nothing is compressed: {kind} are not sent"));
            return None;
        }
        let timeout = set("TIMEOUT").and_then(|name| self.duration(&name, read)).unwrap_or(TIMEOUT);
        Some(Signal { variable, timeout })
    }

    /// Returns the time of a variable in milliseconds; `None` if it is not set, or has none.
    fn duration(&mut self, name: &str, read: &impl Fn(&str) -> Option<String>) -> Option<Duration> {
        let text = read(name)?;
        let time = text.parse().ok().filter(|time_ms| *time_ms > 0).map(Duration::from_millis);
        if time.is_none() {
            self.complaints.push(format!("{name} is `{text}`, which is no number of milliseconds"));
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Settings {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        Settings::read(value)
    }

    const ALL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    const TRACES: (&str, &str) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318/v1/traces");
    const METRICS: (&str, &str) = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:4318/v1/metrics");

    #[test]
    fn only_what_has_an_endpoint_is_sent() {
        type Case = (&'static [(&'static str, &'static str)], bool, bool, &'static str);
        let cases: [Case; 11] = [
            (&[], false, false, "nothing is set"),
            (&[("OTEL_SERVICE_NAME", "crawler")], false, false, "no endpoint is set"),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], false, false, "an empty value is none"),
            (&[ALL], true, true, "one for all"),
            (&[TRACES], true, false, "one for traces"),
            (&[METRICS], false, true, "one for metrics"),
            (&[ALL, ("OTEL_SDK_DISABLED", "True")], false, false, "switched off"),
            (&[ALL, ("OTEL_SDK_DISABLED", "1")], true, true, "only `true` switches off"),
            (&[ALL, ("OTEL_TRACES_EXPORTER", "none")], false, true, "no traces"),
            (&[ALL, ("OTEL_METRICS_EXPORTER", "prometheus")], true, false, "metrics are to go elsewhere"),
            (&[ALL, ("OTEL_TRACES_EXPORTER", "otlp")], true, true, "said once more"),
        ];
        for (variables, traces, metrics, why) in cases {
            let settings = read(variables);
            assert_eq!((settings.traces.is_some(), settings.metrics.is_some()), (traces, metrics), "{why}");
            assert_eq!(settings.complaints, Vec::<String>::new(), "{why}");
        }
    }

    #[test]
    fn what_cannot_be_obeyed_is_said() {
        type Case = (&'static [(&'static str, &'static str)], bool, &'static str);
        let cases: [Case; 6] = [
            (&[TRACES, ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")], false, "OTEL_EXPORTER_OTLP_COMPRESSION is `gzip`"),
            (&[TRACES, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], false, "OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`"),
            (&[TRACES, ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json")], false, "only `http/protobuf` is spoken"),
            (&[TRACES, ("OTEL_EXPORTER_OTLP_TIMEOUT", "5s")], true, "OTEL_EXPORTER_OTLP_TIMEOUT is `5s`"),
            (&[TRACES, ("OTEL_EXPORTER_OTLP_TIMEOUT", "0")], true, "no number of milliseconds"),
            (&[TRACES, ("OTEL_TRACES_SAMPLER", "xray")], true, "OTEL_TRACES_SAMPLER is `xray`"),
        ];
        for (variables, sends, complaint) in cases {
            let settings = read(variables);
            assert_eq!(settings.traces.is_some(), sends, "{complaint}");
            let [said] = settings.complaints.as_slice() else { panic!("{complaint}: {:?}", settings.complaints) };
            assert!(said.contains(complaint), "{complaint}: {said}");
        }
    }

    #[test]
    fn a_variable_of_one_kind_takes_precedence() {
        let settings = read(&[
            ALL,
            TRACES,
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "2000"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "500"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1500"),
        ]);
        let signal = |variable: &str, timeout_ms| Signal {
            variable: variable.to_owned(),
            timeout: Duration::from_millis(timeout_ms),
        };
        assert_eq!(settings.traces, Some(signal(TRACES.0, 2000)));
        assert_eq!(settings.metrics, Some((signal(ALL.0, 500), Duration::from_millis(1500))));
    }
}
