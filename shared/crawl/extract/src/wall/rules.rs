//! The rules, and the features that each examines.

use dragline_domain::url::CrawlUrl;

use super::outline::Outline;
use super::{CHALLENGE_BYTES_MAX, Head, WallKind, form, redirect};

/// A rule for recognising a wall.
#[derive(Debug)]
pub struct Rule {
    /// Its name in details and in `dragline explain`.
    pub name: &'static str,
    /// The kind of wall.
    pub kind: WallKind,
    /// A description of its features, for people.
    pub about: &'static str,
    /// The source: a URL, or where it was observed.
    pub source: &'static str,
    pub(super) looks_at: LooksAt,
}

/// The features that a rule examines.
#[derive(Debug)]
pub(super) enum LooksAt {
    /// A field with this value, ignoring case, and one of these statuses if there are any.
    Field { name: &'static str, value: &'static str, statuses: &'static [u16] },
    /// A short page with all of these in its scripts or tags, and few visible words. In a page's
    /// text they mean nothing.
    Markers { all: &'static [&'static str], words_max: usize },
    /// A redirect to a wall, or a refresh of a page without words.
    Redirect(fn(&Head<'_>, &CrawlUrl) -> bool),
    /// A page of this form.
    Page(fn(&CrawlUrl, &Outline<'_>) -> bool),
}

impl LooksAt {
    pub(super) fn is_in_fields(&self, head: &Head<'_>, target: Option<&CrawlUrl>) -> bool {
        match self {
            Self::Field { name, value, statuses } => {
                let is_value = |found: &[u8]| found.trim_ascii().eq_ignore_ascii_case(value.as_bytes());
                (statuses.is_empty() || statuses.contains(&head.status)) && head.headers.all(name).any(is_value)
            }
            Self::Redirect(leads_to_wall) => target.is_some_and(|target| leads_to_wall(head, target)),
            Self::Markers { .. } | Self::Page(_) => false,
        }
    }

    pub(super) fn is_in_page(&self, url: Option<&CrawlUrl>, outline: &Outline<'_>) -> bool {
        match self {
            Self::Markers { all, words_max } => {
                outline.bytes <= CHALLENGE_BYTES_MAX
                    && outline.words <= *words_max
                    && all.iter().all(|marker| outline.has_in_code(marker))
            }
            Self::Page(is_wall) => url.is_some_and(|url| is_wall(url, outline)),
            Self::Field { .. } | Self::Redirect(_) => false,
        }
    }

    pub(super) const fn markers(&self) -> Option<&'static [&'static str]> {
        match self {
            Self::Markers { all, .. } => Some(*all),
            Self::Field { .. } | Self::Redirect(_) | Self::Page(_) => None,
        }
    }
}

const fn field(name: &'static str, value: &'static str, statuses: &'static [u16]) -> LooksAt {
    LooksAt::Field { name, value, statuses }
}

const fn markers(all: &'static [&'static str], words_max: usize) -> LooksAt {
    LooksAt::Markers { all, words_max }
}

const fn challenge(name: &'static str, about: &'static str, source: &'static str, looks_at: LooksAt) -> Rule {
    Rule { name, kind: WallKind::Challenge, about, source, looks_at }
}

const fn login(name: &'static str, about: &'static str, source: &'static str, looks_at: LooksAt) -> Rule {
    Rule { name, kind: WallKind::Login, about, source, looks_at }
}

const fn consent(name: &'static str, about: &'static str, source: &'static str, looks_at: LooksAt) -> Rule {
    Rule { name, kind: WallKind::Consent, about, source, looks_at }
}

const CLOUDFLARE: &str = "https://developers.cloudflare.com/cloudflare-challenges/";
const AWS: &str = "https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html";
const SITEGROUND: &str = "pages that SiteGround's protection serves";
const IMPERVA: &str = "https://docs.imperva.com/bundle/cloud-application-security/page/more/error-pages.htm";

/// All rules. If several match, the first counts.
pub const RULES: &[Rule] = &[
    challenge(
        "cloudflare_field",
        "the field `cf-mitigated: challenge`, with any status",
        "https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/",
        field("cf-mitigated", "challenge", &[]),
    ),
    challenge(
        "cloudflare_page",
        "a short page with `_cf_chl_opt` in a script, as Cloudflare's challenges have",
        CLOUDFLARE,
        markers(&["_cf_chl_opt"], 150),
    ),
    challenge(
        "cloudflare_old_page",
        "a short page with an element `cf-browser-verification`, as Cloudflare's challenges once had",
        CLOUDFLARE,
        markers(&["cf-browser-verification"], 150),
    ),
    challenge(
        "cloudflare_old_form",
        "a short page with a form that has a field `jschl_vc`, as Cloudflare's challenges once had",
        CLOUDFLARE,
        markers(&["jschl_vc"], 150),
    ),
    challenge(
        "aws_waf_challenge",
        "status 202 with the field `x-amzn-waf-action: challenge`",
        AWS,
        field("x-amzn-waf-action", "challenge", &[202]),
    ),
    challenge(
        "aws_waf_captcha",
        "status 405 with the field `x-amzn-waf-action: captcha`",
        AWS,
        field("x-amzn-waf-action", "captcha", &[405]),
    ),
    challenge(
        "vercel_field",
        "the field `x-vercel-mitigated: challenge`, with any status",
        "https://vercel.com/docs/vercel-firewall/attack-challenge-mode",
        field("x-vercel-mitigated", "challenge", &[]),
    ),
    challenge(
        "siteground_field",
        "the field `sg-captcha: challenge`",
        SITEGROUND,
        field("sg-captcha", "challenge", &[]),
    ),
    challenge(
        "siteground_redirect",
        "a redirect, or a refresh by a field, to `/.well-known/sgcaptcha/`",
        SITEGROUND,
        LooksAt::Redirect(|_, target| target.path().starts_with("/.well-known/sgcaptcha/")),
    ),
    challenge(
        "siteground_page",
        "a short page that leads to `/.well-known/sgcaptcha/` by a refresh or a script",
        SITEGROUND,
        markers(&["/.well-known/sgcaptcha/"], 150),
    ),
    challenge(
        "datadome_page",
        "a short page with a script from `captcha-delivery.com` and its parameters in `var dd=`",
        "https://docs.datadome.co/docs/captcha-page",
        markers(&["captcha-delivery.com", "var dd="], 100),
    ),
    challenge(
        "human_page",
        "a short page with `_pxAppId` and an element `px-captcha`, as HUMAN's (PerimeterX) challenges have",
        "https://docs.humansecurity.com/applications/customize-the-challenge-page",
        markers(&["_pxAppId", "px-captcha"], 150),
    ),
    challenge(
        "imperva_frame",
        "a page of a frame from `/_Incapsula_Resource?SWUDNSAI=`, with nearly no other words",
        IMPERVA,
        markers(&["/_Incapsula_Resource?SWUDNSAI="], 60),
    ),
    challenge(
        "imperva_captcha_frame",
        "a page of a frame from `/_Incapsula_Resource?CWUDNSAI=`, with nearly no other words",
        IMPERVA,
        markers(&["/_Incapsula_Resource?CWUDNSAI="], 60),
    ),
    challenge(
        "imperva_interruption",
        "a short page with `onProtectionInitialized` and `reeseSkipExpirationCheck` in its scripts, mostly entitled `Pardon Our Interruption`",
        IMPERVA,
        markers(&["onProtectionInitialized", "reeseSkipExpirationCheck"], 250),
    ),
    challenge(
        "akamai_page",
        "a short page with an element `sec-if-cpt-container`, as the challenges of Akamai's Bot Manager have",
        "https://techdocs.akamai.com/cloud-security/docs/handle-adversarial-bots",
        markers(&["sec-if-cpt-container"], 100),
    ),
    challenge(
        "akamai_refresh",
        "a page without words that is refreshed with `bm-verify=`, as Akamai's Bot Manager serves it",
        "https://techdocs.akamai.com/cloud-security/docs/handle-adversarial-bots",
        markers(&["bm-verify="], 30),
    ),
    challenge(
        "sucuri_page",
        "a short page with `sucuri_cloudproxy_js` in a script",
        "https://docs.sucuri.net/website-firewall/",
        markers(&["sucuri_cloudproxy_js"], 60),
    ),
    challenge(
        "ddos_guard_page",
        "a short page with a script from `/.well-known/ddos-guard/js-challenge/`",
        "pages that DDoS-Guard serves",
        markers(&["/.well-known/ddos-guard/js-challenge/"], 150),
    ),
    challenge(
        "anubis_page",
        "a short page with a script `anubis_challenge`",
        "https://anubis.techaro.lol/docs/design/how-anubis-works",
        markers(&["anubis_challenge"], 300),
    ),
    challenge(
        "google_sorry",
        "a redirect to `/sorry/` of Google",
        "https://support.google.com/websearch/answer/86640",
        LooksAt::Redirect(|_, target| target.path().starts_with("/sorry/") && redirect::is_google(target.host())),
    ),
    login(
        "sign_on_redirect",
        "a redirect for now to a host that does nothing but log people in, such as `accounts.google.com`",
        "https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow, and others like it",
        LooksAt::Redirect(redirect::is_sign_on),
    ),
    login(
        "login_redirect",
        "a redirect for now to a path such as `/login` or `/signin`, with the URL that was asked for as a parameter",
        "https://docs.djangoproject.com/en/stable/topics/auth/default/#the-login-required-decorator, and others like it",
        LooksAt::Redirect(redirect::is_login_with_return),
    ),
    login(
        "login_form",
        "a page with one field for a password and next to no words but those of its form, outside of header, menus and footer, unless its address is one such as `/login` without parameters",
        "https://html.spec.whatwg.org/multipage/input.html#password-state-(type=password)",
        LooksAt::Page(form::is_login),
    ),
    consent(
        "consent_redirect",
        "a redirect for now to a host that does nothing but ask for consent, such as `consent.youtube.com`",
        "hosts of Google, Yahoo and DPG Media",
        LooksAt::Redirect(redirect::is_consent_host),
    ),
    consent(
        "consent_host",
        "a page of a host that does nothing but ask for consent",
        "hosts of Google, Yahoo and DPG Media",
        LooksAt::Page(|url, _| redirect::asks_for_consent(url.host())),
    ),
    consent(
        "age_redirect",
        "a redirect for now to a path such as `/agecheck` or `/cookiewall` that names the URL that was asked for",
        "sites that ask so, such as store.steampowered.com",
        LooksAt::Redirect(redirect::is_gate_with_return),
    ),
    consent(
        "consent_form",
        "a page with a form for Google's or Yahoo's consent, and few words besides",
        "pages of consent.google.com and consent.yahoo.com",
        LooksAt::Page(form::is_consent),
    ),
    consent(
        "age_question",
        "a page of few words that asks, in a heading or a button, whether the reader is over 18 or 21",
        "sites that ask so",
        LooksAt::Page(form::is_age_question),
    ),
];
