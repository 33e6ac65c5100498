//! Every word of a page is found however it is typed: with accents or without, in either case,
//! composed or not, in every language.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tempfile::TempDir;
use unicode_normalization::UnicodeNormalization as _;

use crate::entry::Entry;
use crate::fields::Part;
use crate::index::Index;
use crate::tests::{build_index, found, page};

/// Words of each language in its script: of several kinds, with accents and endings, and without
/// stop words.
const WORDS: &[(&str, &str)] = &[
    ("ar", "الكِتَابُ المدرسة أخبار إسلام آثار مؤسسة رئيس مُحَمَّد كتـــاب"),
    ("az", "İşıq Ilıq qızıl dəmir şəhər Özəl ağac çörək IRAQ kənd"),
    ("bg", "България ѝ йога път щъркел район седмѝца Ямбол"),
    ("bn", "বাংলা ভাষা পড়া আড়াই সময় কৃষ্ণ"),
    ("ca", "Barça intel·ligència informació cafè pingüí Lluïsa això més"),
    ("cs", "příliš žluťoučký kůň úpěl ďábelské ódy Řezáč město ÚŘAD"),
    ("da", "smørrebrød Århus æbler frøken allé København idé ØRNE"),
    ("de", "Häuser Straße Café Größe informieren Überprüfungen Böden Müller ÄRZTE Maß Lohnerhöhung"),
    ("el", "Ελλάδα ΑΘΗΝΑ καφές οδός Ευρώπη προϊόν υιός λόγος ΐδιος μαΐου άνθρωπος γλώσσες"),
    ("en", "résumé café cliché protégé naïve façade coöperation Brontë señor fiancée touché déjà"),
    (
        "es",
        "informó áreas además información niño pingüino canción rápidamente café comunicación inglés TÉ árboles habían",
    ),
    ("et", "õpetaja sõnaraamat küsimus žanr šokolaad Tõnu mägi ÖÖ"),
    ("fa", "می‌خواهم کتاب‌ها فارسی آزادی مسئله مؤثّر"),
    ("fi", "äitiä yötä Ähtäri Åbo šakki kääntäjä pöydällä hyvää"),
    (
        "fr",
        "élèves été cliché français informés cœur garçon naïveté résumé œuvre ambiguë bientôt ÉTÉS hôpitaux privilégié Noël ça",
    ),
    ("he", "שָׁלוֹם עִבְרִית ספרים ירושלים צ׳רצ׳יל"),
    ("hi", "हिन्दी भाषा फ़िल्म ज़रूरत कृपया पढ़ाई सड़क"),
    ("hr", "čovjek žena šuma đak ćup Šibenik riječ"),
    ("hu", "árvíztűrő tükörfúrógép házakban könyvtár előadások ŐSZI üdvözlet kávé szépség"),
    ("hy", "Հայաստան Երևան գիրք ԲԱՐԵՎ"),
    ("id", "bahasa Indonesia é kafé"),
    ("is", "þjóð Ísland ævintýri góðan Öræfi maðkur"),
    ("it", "città perché qualità caffè però università lunedì virtù papà àncora È"),
    ("ja", "ﾃﾞｰﾀﾍﾞｰｽ プログラム ガンダム 設計 がっこう ペン ﾊﾟﾝ 東京都 ヴァイオリン ㌔"),
    ("ka", "საქართველო თბილისი"),
    ("kk", "Қазақстан йод әлем Ўзбек"),
    ("km", "ភាសាខ្មែរ ភ្នំពេញ"),
    ("ko", "한글 책을 읽습니다 대한민국 값 서울 ﾡﾢ"),
    ("lo", "ພາສາລາວ ວຽງຈັນ"),
    ("lt", "ąžuolas šiandien žmogus ėjimas ūkis Lietuvių į įėjimas"),
    ("lv", "Rīga ģimene ķirsis ļaudis ņemt čūska ŠĶIRA"),
    ("my", "မြန်မာ ရန်ကုန်"),
    ("nl", "coördinatie reünie café één ideeën Curaçao hé patiënten vóór"),
    ("no", "blåbær Ærlig øyer Ålesund idé fôr også"),
    ("pl", "zażółć gęślą jaźń Łódź źródło święta ŻÓŁW ból"),
    ("pt", "informação ações coração pães avó avô português úteis também está consequência CAFÉ órgãos três"),
    ("ro", "România șapte țară București întâlniri învățător mâine ȘTIINȚĂ și"),
    ("ru", "за́мок ёлка Йошкар чита́ющий объём книги ЕЩЁ моё большо́й самолёты твой"),
    ("sk", "ďakujem ľudia môže kôň ŕba dĺžka Štúr"),
    ("sl", "čaj žoga šola Črnomelj"),
    ("sr", "Ђорђе љубав ђак ćevapi Ѐ"),
    ("sv", "Åkerström räksmörgås idéer kött ÖREBRO även hår"),
    ("sw", "kitabu ng’ombe mwaka"),
    ("ta", "தமிழ் மொழி புத்தகங்கள் கௌரி"),
    ("te", "తెలుగు భాష కృష్ణ"),
    ("th", "ภาษาไทย น้ำ กรุงเทพ ทำงาน เก็บ"),
    (
        "tr",
        "İzmir İstanbul Iğdır Irmak güzeldir ışık kızlar çocuklar ÖĞRENCİ şehirler ağaçlar IŞIKLAR kâğıt DİYARBAKIR",
    ),
    ("uk", "Україна їжак п’ять ґанок йти Київ об’єкт за́мок"),
    ("und", "Zürich São İzmir ﬁne ｆｕｌｌ Straße Œuvre Đặng naïve co\u{ad}operation"),
    ("ur", "اُردو زبان پاکستان مؤثر"),
    ("uz", "oʻzbek Gʻalaba so‘z"),
    ("vi", "tiếng Việt phở Đà Nẵng ướt nghĩa ƯỚC quyển"),
    ("yo", "Ọjọ́ ẹ̀kọ́ Yorùbá"),
    ("zh", "中文 搜索引擎 數據庫 臺灣"),
];

/// Letters that are not composed of another one and a mark, with what people type who lack them.
const WITHOUT: &[(char, &str)] = &[
    ('ß', "ss"),
    ('ẞ', "SS"),
    ('æ', "ae"),
    ('Æ', "AE"),
    ('œ', "oe"),
    ('Œ', "OE"),
    ('ø', "o"),
    ('Ø', "O"),
    ('ł', "l"),
    ('Ł', "L"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ı', "i"),
    ('þ', "th"),
    ('Þ', "TH"),
    ('ð', "d"),
    ('Ð', "D"),
];

/// Returns whether a letter may have accents. In other scripts, marks are vowels, or make other
/// letters.
fn has_accents(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{5d0}'..='\u{6ff}')
}

/// Returns a word as typed without accents.
fn bare(word: &str) -> String {
    let mut bare = String::new();
    let mut after = ' ';
    for c in word.nfd() {
        let is_mark = unicode_normalization::char::is_combining_mark(c);
        if is_mark && has_accents(after) {
            continue;
        }
        after = c;
        match WITHOUT.iter().find(|(letter, _)| *letter == c) {
            Some((_, typed)) => bare.push_str(typed),
            None => bare.push(c),
        }
    }
    bare
}

/// Returns a word in capitals, by the rules of its language.
fn upper(language: &str, word: &str) -> String {
    if matches!(language, "tr" | "az") { word.replace('i', "İ").to_uppercase() } else { word.to_uppercase() }
}

/// Returns the ways to type a word.
fn typed(language: &str, word: &str) -> Vec<String> {
    let cased = [word.to_owned(), word.to_lowercase(), upper(language, word)];
    let bare = cased.iter().map(|word| bare(word)).chain([bare(word).to_uppercase(), bare(word).to_lowercase()]);
    let mut typed: Vec<String> = cased.iter().cloned().chain(bare).collect();
    typed.extend(typed.clone().iter().flat_map(|word| [word.nfd().collect(), word.nfc().collect::<String>()]));
    typed.push(word.nfkc().collect());
    typed.sort();
    typed.dedup();
    typed
}

fn index_in(language: &str, text: &str) -> (TempDir, Index) {
    build_index(&[
        Entry { language: language.to_owned(), ..page("page", "7", text) },
        page("other", "7", "these are words of another page in English"),
    ])
}

#[test]
fn every_word_of_a_page_finds_it_however_it_is_typed() {
    let mut missed = Vec::new();
    let mut asked = 0;
    for (language, words) in WORDS {
        for (text, form) in
            [((*words).to_owned(), "as it is"), (words.nfd().collect(), "NFD"), (words.to_uppercase(), "upper")]
        {
            if form == "upper" && matches!(*language, "tr" | "az") {
                continue;
            }
            let (_folder, index) = index_in(language, &text);
            for word in words.split(' ') {
                let all = typed(language, word);
                for query in if form == "as it is" { all } else { vec![(*word).to_owned(), bare(word)] } {
                    asked += 1;
                    if found(&index, &query) != "page" {
                        missed.push(format!("{language}: {query} for {word} in a text {form}"));
                    }
                }
            }
        }
    }
    assert_eq!(missed.join("\n"), "", "{} of {asked}", missed.len());
}

#[test]
fn invisible_characters_in_words_are_ignored() {
    for (text, query, reason) in [
        ("co\u{ad}opera\u{ad}tion", "cooperation", "soft hyphens in the page"),
        ("cooperation", "co\u{ad}operation", "and in the query"),
        ("super\u{200b}cali\u{2060}fragil\u{feff}istic", "supercalifragilistic", "characters without a width"),
        ("ภาษา\u{200b}ไทย", "ภาษาไทย", "also where there are no spaces"),
        ("\u{200f}שלום\u{200e}", "שלום", "signs of direction"),
        ("за́мок", "замок", "marks of stress"),
        ("за́мку", "замка", "and another form of the word"),
        ("heart\u{fe0f}felt", "heartfelt", "selectors of a shape"),
    ] {
        let language = if text.contains('з') { "ru" } else { "en" };
        let (_folder, index) = index_in(language, text);
        assert_eq!(found(&index, query), "page", "{query:?} in {text:?}: {reason}");
        assert_eq!(found(&index, &format!("\"{query}\"")), "page", "{query:?}: {reason}");
    }
}

#[test]
fn forms_of_a_word_are_found_with_its_accents_and_without() {
    for (language, text, query, reason) in [
        ("en", "several résumés", "resume", "an ending, and an accent that is not typed"),
        ("en", "several resumes", "résumé", "an accent that the page has not"),
        ("es", "las canciones", "canción", "with the accent"),
        ("es", "una canción", "canciones", "without it, as it has none"),
        ("pt", "as informações", "informacoes", "two at once"),
        ("fr", "les élèves français", "\"eleves francais\"", "a phrase without accents"),
        ("fr", "les élèves français", "\"élève francais\"", "with some of them"),
        (
            "fr",
            "un élève privilégié déjà informé, près de l’hôpital",
            "\"eleve privilegie deja informe pres de l'hopital\"",
            "a long one",
        ),
        ("de", "Kaffee für Mütter", "fur mutter", "a stop word without its accent"),
        ("de", "Kaffee für Mütter", "\"kaffee fur mutter\"", "also in a phrase"),
        ("es", "té verde", "te", "a word that is a stop word without its accent"),
        ("es", "té verde", "\"té verde\"", "and in a phrase with it"),
    ] {
        let (_folder, index) = index_in(language, text);
        assert_eq!(found(&index, query), "page", "{query} in {text}: {reason}");
    }
    let (_folder, index) = index_in("de", "Kaffee für Mütter");
    assert_eq!(found(&index, "\"fur kaffee\""), "", "what does not follow is no phrase");
}

#[test]
fn snippets_are_parts_of_the_original_text() {
    for (language, text, query, expected) in [
        ("ja", "これはﾃﾞｰﾀﾍﾞｰｽです", "データベース", "これは[ﾃﾞｰﾀﾍﾞｰｽ]です"),
        ("en", "a re\u{301}sume\u{301}, twice", "resume", "a [re\u{301}sume\u{301}], twice"),
        ("en", "my co\u{ad}operation ends", "cooperation", "my [co\u{ad}operation] ends"),
        (
            "ko",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} \u{110e}\u{1162}\u{11a8}",
            "한글",
            "[\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}] \u{110e}\u{1162}\u{11a8}",
        ),
        ("tr", "Güzel Iğdır’da", "ığdır", "Güzel [Iğdır]’da"),
    ] {
        let (_folder, index) = index_in(language, text);
        let results = index.search(&crate::tests::request(query)).unwrap().results;
        let marked: String = results[0]
            .snippet
            .0
            .iter()
            .map(|piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text.clone() })
            .collect();
        assert_eq!(marked, expected, "{query}");
    }
}

#[test]
fn a_prefix_of_a_name_is_a_prefix_of_its_last_part() {
    let (_folder, index) = build_index(&[
        page("names", "7", "Use snake_case_name and os.path.join and e-mail and node.js and O’Reilly in your code"),
        page("parts", "7", "a snake in a case, the name of a path, an OS to join, and a node of mail"),
        page("docs/api/café", "7", "nothing here"),
    ]);
    for (query, expected, reason) in [
        ("snake_ca*", "names", "the second of three parts"),
        ("snake_case_n*", "names", "the last of three"),
        ("SNAKE_CA*", "names", "in any case"),
        ("os.pa*", "names", "a module"),
        ("os.path.jo*", "names", "a function in it"),
        ("node.j*", "names", "a single letter, as there are others before it"),
        ("e-ma*", "names", "a hyphen"),
        ("O'Rei*", "names", "an apostrophe"),
        ("case_sn*", "", "parts have an order"),
        ("snake_na*", "", "and follow one another"),
        ("node.*", "names parts", "a point ends a word"),
        ("text:snake_ca*", "names", "in a part of a page"),
        ("title:snake_ca*", "", "and not in another one"),
        ("-snake_ca* snake", "parts", "not those"),
        ("url:/docs", "docs/api/café", "a path"),
        ("url:/docs/api/", "docs/api/café", "of several parts"),
        ("url:/docs/caf%C3%A9", "", "which follow one another"),
        ("url:/api/caf%C3%A9", "docs/api/café", "as URLs are written"),
        ("url:https://a.example/docs", "docs/api/café", "a whole URL"),
        ("url:/do*", "docs/api/café", "the beginning of one"),
    ] {
        let mut paths: Vec<String> = found(&index, query).split(' ').map(str::to_owned).collect();
        paths.sort();
        assert_eq!(paths.join(" "), expected, "{query}: {reason}");
    }
}

#[test]
fn expansions_of_a_name_need_its_first_part() {
    let mut entries: Vec<Entry> =
        (0..300).map(|n| page(&format!("p{n}"), "7", &format!("ca{n} ca{} ca{}", n + 300, n + 600))).collect();
    entries.extend((300..600).map(|n| page(&format!("p{n}"), "7", &format!("ca{} ca{n} ca{}", n - 300, n + 300))));
    entries.push(page("snake", "7", "a snake_case"));
    let (_folder, index) = build_index(&entries);
    assert_eq!(found(&index, "snake_ca*"), "snake");
}

#[test]
fn a_word_that_a_page_has_is_not_corrected() {
    let (_folder, index) = build_index(&[
        Entry { language: "de".to_owned(), ..page("de", "7", "Wir gehen ins Café, heute mit Gästen") },
        page("case", "7", "in this case, resumed by the cast, with cats and malarie"),
        Entry { language: "tr".to_owned(), ..page("tr", "7", "Iğdır, mal\u{ad}aria") },
        page("en", "7", "agdir ogdir"),
        Entry {
            headings: vec!["Caser".to_owned()],
            anchors: vec!["Ségolène".to_owned()],
            ..page("parts/casez", "Casel", "nothing")
        },
    ]);
    for (query, expected, reason) in [
        ("cafe", "de", "a word of the text, without its accent"),
        ("gasten", "de", "and in a form of it"),
        ("malaria", "tr", "with what cannot be seen in it"),
        ("IGDIR", "tr", "in capitals"),
        ("caser", "parts/casez", "a word of a heading"),
        ("casel", "parts/casez", "of a title"),
        ("casez", "parts/casez", "of a URL"),
        ("segolene", "parts/casez", "of what links say"),
        ("title:caser", "", "of another part than was asked for"),
    ] {
        let results = index.search(&crate::tests::request(query)).unwrap();
        assert_eq!(results.corrections, [], "{query}: {reason}");
        assert_eq!(found(&index, query), expected, "{query}: {reason}");
    }
}

#[test]
fn a_word_with_two_forms_is_one_word() {
    let (_folder, index) = build_index(&[
        page("one", "7", "my résumé is no resume, and résumés are many"),
        page("two", "7", "my résumé, too"),
        page("three", "7", "cats are here"),
    ]);
    for query in ["résumé", "resume"] {
        let mut places = Vec::new();
        index
            .places(Part::Text, query, |place| {
                places.push((place.url, place.occurrences, place.positions));
                ControlFlow::Continue(())
            })
            .unwrap();
        places.sort();
        let url = |path: &str| format!("https://a.example/{path}");
        assert_eq!(places, [(url("one"), 3, vec![1, 4, 6]), (url("two"), 1, vec![1])], "{query}");
    }
    let similar = index.similar("https://a.example/one", 5).unwrap().unwrap();
    assert_eq!(similar.by.iter().filter(|word| word.starts_with("resum")).count(), 1, "{:?}", similar.by);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_spellings_of_a_word_are_equivalent(
        word in "[a-zA-ZéèüöäßñçøåæœłđıİşğžčőąÉÜĞŁ]{1,12}",
        language in prop::sample::select(WORDS.iter().map(|(language, _)| *language).collect::<Vec<_>>()),
    ) {
        let forms = |typed: &str| -> Vec<String> {
            let mut forms = Vec::new();
            crate::words::WordMaker::for_language(language).each(typed, |token| forms.push(token.text.clone()));
            forms
        };
        let indexed = forms(&word);
        for query in typed(language, &word) {
            let asked = crate::words::WordMaker::for_language(language).query_words(&query);
            prop_assert_eq!(asked.len(), 1, "{} is one word", query);
            // A stop word without accents is not indexed.
            prop_assert!(indexed.is_empty() || asked[0].forms.iter().any(|form| indexed.contains(form)), "{} {:?} {:?}", query, asked, indexed);
        }
    }
}
