//! Walls recognised by their form: what they ask for, with next to nothing else on the page.

use dragline_domain::url::CrawlUrl;

use super::outline::Outline;

/// The most words of a login page besides its form and its links, if its title or headings say so.
const LOGIN_WORDS_MAX: usize = 60;

/// The same if they do not.
const UNTITLED_WORDS_MAX: usize = 8;

/// The most words of a login form. One around a whole page has more.
const FORM_WORDS_MAX: usize = 100;

/// The most words of a consent page besides links: such pages explain a good deal.
const CONSENT_WORDS_MAX: usize = 400;

/// The most words of an age question.
const AGE_WORDS_MAX: usize = 80;

/// The most of these that are in links: a page of links to others is content.
const AGE_LINK_WORDS_MAX: usize = 25;

/// Words in titles and headings of login pages, in lower case.
const LOGIN_WORDS: [&str; 40] = [
    "log in",
    "login",
    "log-in",
    "logon",
    "log on",
    "sign in",
    "signin",
    "sign-in",
    "sign on",
    "authentication",
    "anmelden",
    "anmeldung",
    "einloggen",
    "connexion",
    "se connecter",
    "connectez-vous",
    "identification",
    "iniciar sesión",
    "inicia sesión",
    "inicio de sesión",
    "acceder",
    "accedi",
    "accesso",
    "entrar",
    "inloggen",
    "aanmelden",
    "logga in",
    "logg inn",
    "log ind",
    "kirjaudu",
    "zaloguj",
    "logowanie",
    "přihlášení",
    "prihlásenie",
    "bejelentkezés",
    "autentificare",
    "giriş",
    "вход",
    "войти",
    "увійти",
];

/// The same in scripts without spaces.
const LOGIN_CHARACTERS: [&str; 8] =
    ["ログイン", "サインイン", "登录", "登入", "登錄", "로그인", "เข้าสู่ระบบ", "تسجيل الدخول"];

/// The targets of consent forms.
const CONSENT_ACTIONS: [&str; 3] =
    ["https://consent.google.com/save", "https://consent.youtube.com/save", "/v2/collectConsent?sessionId="];

/// The questions of pages for adults, in lower case.
const AGE_QUESTIONS: [&str; 22] = [
    "are you over 18",
    "are you 18",
    "are you over 21",
    "are you 21",
    "i am over 18",
    "i am 18",
    "i'm over 18",
    "i'm 18",
    "i am over 21",
    "i am 21",
    "i'm over 21",
    "i'm 21",
    "legal drinking age",
    "ich bin über 18",
    "ich bin 18",
    "j'ai plus de 18 ans",
    "j'ai 18 ans",
    "soy mayor de 18",
    "tengo más de 18",
    "ho più di 18 anni",
    "ik ben 18",
    "ik ben ouder dan 18",
];

/// Whether a page is a login form in the place of another page. A page with a form in its header
/// beside content does not count, nor does one for registering or setting a password, nor one at a
/// login address: that was asked for, unless a parameter may name the page to return to.
pub(super) fn is_login(url: &CrawlUrl, outline: &Outline<'_>) -> bool {
    if has_login_address(url) && url.path_and_query() == url.path() {
        return false;
    }
    let says_so = has_word(&outline.headings, &LOGIN_WORDS)
        || LOGIN_CHARACTERS.iter().any(|known| outline.headings.contains(known))
        || has_login_address(url);
    let words_max = if says_so { LOGIN_WORDS_MAX } else { UNTITLED_WORDS_MAX };
    let asks = outline.passwords == 1 && outline.passwords_aside == 0 && !outline.sets_password;
    let is_small = !outline.is_cut && outline.login_words <= FORM_WORDS_MAX;
    asks && is_small && outline.prose_words <= words_max && outline.link_words <= words_max
}

fn has_login_address(url: &CrawlUrl) -> bool {
    url.path().rsplit('/').find(|segment| !segment.is_empty()).is_some_and(is_login_segment)
}

fn is_login_segment(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default();
    ["login", "log-in", "signin", "sign-in", "sign_in", "logon", "wp-login"]
        .iter()
        .any(|known| stem.eq_ignore_ascii_case(known))
}

/// Whether a page only asks for consent; a page with such a question over its content does not
/// count.
pub(super) fn is_consent(_: &CrawlUrl, outline: &Outline<'_>) -> bool {
    let is_few = !outline.is_cut && outline.words.saturating_sub(outline.link_words) <= CONSENT_WORDS_MAX;
    is_few && CONSENT_ACTIONS.iter().any(|action| outline.has_action(action))
}

/// Whether a page only asks for an age.
pub(super) fn is_age_question(_: &CrawlUrl, outline: &Outline<'_>) -> bool {
    let asked = || {
        let buttons = outline.buttons.replace('\u{2019}', "'");
        has_word(&buttons, &AGE_QUESTIONS)
    };
    outline.words <= AGE_WORDS_MAX && outline.link_words <= AGE_LINK_WORDS_MAX && !outline.is_cut && asked()
}

/// Whether a text contains one of these as separate words.
fn has_word(text: &str, words: &[&str]) -> bool {
    let is_bound = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, found)| {
            let (before, behind) =
                (text.get(..at).unwrap_or_default(), text.get(at + found.len()..).unwrap_or_default());
            is_bound(before.chars().next_back()) && is_bound(behind.chars().next())
        })
    })
}
