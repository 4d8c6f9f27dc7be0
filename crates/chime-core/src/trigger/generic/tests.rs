use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(generic: bool, asks: &str) {
    let wrong: Vec<&str> =
        asks.lines().map(str::trim).filter(|ask| !ask.is_empty() && is_generic(ask) != generic).collect();
    assert!(wrong.is_empty(), "should {}be generic: {wrong:#?}", if generic { "" } else { "not " });
}

#[track_caller]
fn check_thanks(thanks: bool, texts: &str) {
    let wrong: Vec<&str> =
        texts.lines().map(str::trim).filter(|text| !text.is_empty() && is_thanks(text) != thanks).collect();
    assert!(wrong.is_empty(), "should {}be thanks: {wrong:#?}", if thanks { "" } else { "not " });
}

#[test]
fn marks_emoji_and_pointers_only_point() {
    assert!(is_generic(""));
    check(
        true,
        "
        ^
        ^^
        ↑
        ?
        ???!
        👆
        ☝️
        🤔
        …
        this
        this ^
        see above
        pls
        ",
    );
}

#[test]
fn general_questions_in_english_only_point() {
    check(
        true,
        "
        thoughts?
        any thoughts on this?
        Thoughtsss???
        what do you think
        what do you all think?
        so what do you guys think about all this?
        hey, what do you think? can you help?
        what's your take on the above?
        whats ur opinion
        WDYT
        can you help
        can you please help us with this
        could you help me out here?
        would you mind? can you take a look at this pls
        chime in please
        please weigh in
        care to weigh in?
        what should we do
        ok so what now?
        any ideas, guys?
        who's right here?
        is that true?
        is this right
        do you agree?
        settle this please
        yes or no?
        which one?
        tl;dr
        can you summarize this conversation
        explain please 🙏
        what do you think we should do?
        any advice? tips?
        we need your help!!
        help
        pleeeease heeelp
        over to you
        your turn
        what would you do?
        does that make sense?
        let us know what you think
        what did I miss?
        can you answer that question?
        I'd love to hear your thoughts on this discussion
        ",
    );
}

#[test]
fn an_ask_with_a_subject_is_never_generic() {
    check(
        false,
        "
        what do you think about pizza
        what do you think of the thai place?
        can you help me with taxes
        help me with my taxes
        thoughts on rust?
        any ideas for dinner
        when do we meet?
        is it still open?
        who said that first?
        what is the capital of France
        2 + 2
        do we need a visa?
        what about Friday?
        translate this
        should we buy it?
        explain recursion
        summarize the news from yesterday
        which one is cheaper
        https://example.org
        nein
        what time is it
        can you book a table
        was kostet das?
        ¿cuánto cuesta esto?
        combien ça coûte ?
        сколько это стоит?
        kui palju see maksab?
        quanto custa isso?
        скільки це коштує?
        bu ne kadar?
        quanto costa questo?
        che ne pensi della pizza?
        hoeveel kost dit?
        wat denk je van pizza?
        ile to kosztuje?
        co myślisz o pizzy?
        kto ma klucz?
        ",
    );
}

#[test]
fn a_wall_of_text_is_never_generic() {
    assert!(!is_generic(&"what do you think ".repeat(200)));
}

#[test]
fn general_questions_in_the_other_languages_only_point() {
    check(
        true,
        "
        was meint ihr dazu?
        Was hältst du davon?
        kannst du uns bitte helfen?
        könntest du das mal erklären?
        stimmt das?
        und was jetzt?
        siehe oben
        ¿qué opinas?
        que opinas de esto
        ¿puedes ayudarnos por favor?
        ¿alguna idea?
        ¿y tú qué piensas?
        ¿qué te parece?
        ¿qué hacemos?
        Qu'en penses-tu ?
        t’en penses quoi
        tu peux nous aider stp ?
        un avis ?
        c'est vrai ça ?
        on fait quoi ?
        что думаешь?
        а ты что думаешь об этом?
        Чё думаете, ребят?
        помоги пожалуйста
        можешь помочь?
        есть идеи?
        кто прав?
        mis sa arvad?
        mida sa sellest arvad?
        kas saad aidata?
        oskad aidata palun
        mõtteid?
        o que você acha disso?
        o que achas?
        pode ajudar?
        alguma sugestão?
        e agora?
        що думаєш?
        а що ти про це думаєш?
        допоможи будь ласка
        які ідеї?
        хто правий?
        ne düşünüyorsun?
        sence ne yapalım?
        sen ne dersin bu konuda
        yardım eder misin lütfen?
        bir fikrin var mı?
        ne dusunuyorsun
        che ne pensi?
        Secondo voi?
        e adesso cosa facciamo?
        puoi aiutarci per favore?
        qualche idea?
        di cosa state parlando?
        vedi sopra
        wat denk je?
        wat vinden jullie hiervan?
        kun je ons even helpen?
        klopt dat?
        en nu?
        zie hierboven
        co myślisz?
        a co wy o tym sądzicie?
        co o tym myslisz
        możesz pomóc?
        kto ma rację?
        jakieś pomysły?
        i co teraz?
        ",
    );
}

#[test]
fn thanks_praise_and_emoji_are_reply_enough() {
    check_thanks(
        true,
        "
        thanks
        Thank you so much!!!
        ok thanks 🙏
        👍
        👍🏽👍🏽
        ❤️
        😂😂
        :)
        thx :D
        great, thank you all
        got it
        good bot
        lol
        hahaha
        danke dir!
        vielen Dank 🙌
        ¡muchas gracias!
        merci beaucoup
        спасибо большое
        suur aitäh
        valeu!
        дуже дякую
        çok teşekkürler
        grazie mille!
        perfetto, grazie
        dank je wel!
        top, bedankt
        dziękuję bardzo
        super, dzięki
        děkuju
        díky 🙏
        ありがとう
        ありがとうございます!
        谢谢
        cảm ơn
        شكراً
        ",
    );
}

#[test]
fn a_question_or_a_word_more_is_no_thanks() {
    assert!(!is_thanks(""));
    check_thanks(
        false,
        "
        thanks, and the other one?
        ok?
        thanks but why
        thanks for the tip about Anna
        👆
        ☝️
        ❓
        ^
        ...
        please
        hey
        the second one
        no
        ",
    );
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "\\PC*") {
        let _ = (is_generic(&text), is_thanks(&text));
    }

    #[test]
    fn marks_and_case_change_nothing(shout in "[?!. ]{0,5}") {
        let (general, about_pizza) = (format!("{shout}WHAT do you THINK{shout}"), format!("what do you think about PIZZA{shout}"));
        prop_assert!(is_generic(&general));
        prop_assert!(!is_generic(&about_pizza));
    }
}

#[test]
fn greetings_thanks_and_laughter_are_small_talk() {
    for text in [
        "Good morning all!",
        "gn",
        "hi Juan 👋",
        ":wave:",
        "thanks!",
        "ok",
        "haha",
        "lol",
        "👍",
        "bye, see you",
        "Gute Nacht zusammen",
        "Доброе утро",
        "¡Buenas noches!",
        "no problem",
        "Bonne soirée Marie",
        "günaydın",
        "thanks Ben",
        "спасибо, Аня",
        "hi all, how are you?",
        "¿qué tal?",
        "hahahahaha",
        "ахахахах",
        "viel Spaß",
    ] {
        assert!(is_small_talk(text), "{text}");
    }
    for text in [
        "the good morning song is at nine",
        "night shift starts at ten",
        "see you at the station at nine",
        "ok I'll book the table",
        "hello? anybody there?",
        "see you tomorrow?",
        "ok?",
        "how are you getting there?",
        "pizza",
        "Ben has the key",
        "thanks for the boat pictures from Saturday",
    ] {
        assert!(!is_small_talk(text), "{text}");
    }
}

#[test]
fn languages_without_phrases_are_not_taken_for_small_talk() {
    let languages = Languages::shipped();
    check(true, "؟\n？\n؟؟");
    for ask in [
        "نظرتون چیه؟",
        "ما رأيكم؟",
        "क्या लगता है?",
        "你们觉得呢？",
        "どう思いますか。",
        "어떻게 생각해?",
        "τι λέτε;",
        "آپ کا کیا خیال ہے؟",
    ] {
        assert!(languages.is_question(ask), "{ask}");
        assert!(!is_small_talk(ask) && !is_thanks(ask) && !is_generic(ask), "{ask}");
    }
    for text in ["明天七点老地方见", "내일 만나요", "فردا ساعت هفت", "οκ, πάμε", "我吃了；好"]
    {
        assert!(!languages.is_question(text) && !is_small_talk(text), "{text}");
    }
}

#[test]
fn what_asks_about_the_bot_tells_its_language() {
    for (ask, first) in [
        ("who are you?", Some("eng")),
        ("wer bist du?", Some("deu")),
        ("¿quién eres?", Some("spa")),
        ("qui es-tu ?", Some("fra")),
        ("кто ты?", Some("rus")),
        ("kes sa oled?", Some("est")),
        ("hallo", Some("deu")),
        ("bonjour", Some("fra")),
        ("who has the key?", None),
    ] {
        assert_eq!(asks_about_bot(ask).first().copied(), first, "{ask}");
    }
}

#[test]
fn a_question_about_the_bot_is_not_about_the_talk() {
    let asks = "
        who are you?
        hi, who are you?
        are you there?
        what can you do?
        which commands do you have?
        wer bist du?
        ¿quién eres?
        qui es-tu ?
        кто ты?
        kes sa oled?
        chi sei?
        wie ben je?
        kim jesteś?
        quem és tu?
        sen kimsin?
        хто ти?
    ";
    check(false, asks);
    for ask in asks.lines().map(str::trim).filter(|ask| !ask.is_empty()) {
        assert!(is_about_bot(ask), "{ask}");
    }
    assert!(!is_about_bot("help"), "it may be about the talk");
}

#[test]
fn thanks_may_say_what_for_and_that_it_is_all() {
    for text in [
        "thanks, that's all",
        "thank you so much for your help",
        "cheers, that's it",
        "parfait, merci pour ta patience",
        "c'est très gentil, merci infiniment",
        "спасибо, это всё",
        "çok teşekkürler, hepsi bu",
        "dzięki wielkie, to wszystko",
    ] {
        assert!(is_thanks_by_name(text, false), "{text}");
    }
}

#[test]
fn requests_for_ideas_are_known_in_every_language() {
    let is_asked = |ask: &&str| is_generic(ask) && asks_for_ideas(ask);
    for ask in [
        "any ideas?",
        "do you have any suggestions on this, please?",
        "habt ihr Ideen?",
        "hast du ne Idee?",
        "¿tienes alguna idea?",
        "on sul ideid?",
        "t'as des idées ?",
        "hai qualche idea?",
        "heb je ideeën?",
        "masz jakieś pomysły?",
        "dá umas ideias",
        "tens ideias?",
        "есть идеи?",
        "bir fikrin var mı?",
        "які ідеї?",
    ] {
        assert!(is_asked(&ask), "{ask}");
    }
    for ask in ["any idea?", "is this a good idea?", "thoughts?", "any ideas for dinner", "help", ""] {
        assert!(!is_asked(&ask), "{ask}");
    }
}

#[test]
fn short_choices_are_known_in_every_language() {
    let chooses = |ask: &&str| is_generic(ask) && asks_to_choose(ask);
    for ask in [
        "which one?",
        "ok so which is best?",
        "welches ist am besten?",
        "und welcher?",
        "¿cuál es mejor?",
        "milline on parem?",
        "lequel ?",
        "qual è meglio?",
        "welke is beter?",
        "która jest najlepsza?",
        "qual é a melhor?",
        "какой лучше?",
        "hangisi daha iyi?",
        "що краще?",
    ] {
        assert!(chooses(&ask), "{ask}");
    }
    for ask in ["which one is cheaper", "what do you think?", "is that true?", ""] {
        assert!(!chooses(&ask), "{ask}");
    }
}

#[test]
fn wishes_for_a_poll_of_what_was_named_are_known_in_every_language() {
    for ask in [
        "make a poll of these",
        "as a poll please",
        "can you turn this into a poll?",
        "poll!",
        "let's vote on it",
        "Umfrage draus machen",
        "mach bitte eine Umfrage daraus",
        "kannst du das als Umfrage machen?",
        "lass uns abstimmen",
        "haz una encuesta con esto",
        "¿puedes hacer una encuesta?",
        "tee sellest küsitlus",
        "fais-en un sondage",
        "tu peux en faire un sondage stp ?",
        "fanne un sondaggio",
        "puoi fare un sondaggio?",
        "maak er een poll van",
        "zrób z tego ankietę",
        "faz uma enquete disso",
        "сделай из этого опрос",
        "сделай голосование, пожалуйста",
        "зроби з цього опитування",
        "bunlardan anket yap",
        "anket yapar mısın?",
    ] {
        assert!(asks_for_poll(ask), "{ask}");
    }
    for ask in [
        "make a poll about lunch on Friday",
        "who won the poll?",
        "how many voted in the poll?",
        "no poll please",
        "any polls?",
        "what is a poll?",
        "do we need a poll?",
        "do you have polls?",
        "thanks for the poll",
        "gibt es eine Umfrage?",
        "make a list of these",
        "wann ist die Umfrage?",
        "wer hat die Umfrage gemacht?",
        "кто сделал опрос?",
        "make these",
        "",
    ] {
        assert!(!asks_for_poll(ask), "{ask}");
    }
}

#[test]
fn an_emoji_beside_the_bots_name_is_thanks_after_an_answer() {
    for text in ["❤️", "😂", "👍", "🙏🏽 :)"] {
        assert!(is_thanks_by_name(text, true), "{text}");
        assert!(!is_thanks_by_name(text, false), "{text}");
    }
    for text in ["", "?", "^", "👆", "🤔", "👀", "…", "true"] {
        assert!(!is_thanks_by_name(text, true), "{text}");
    }
}

#[test]
fn who_asks_for_a_link_does_not_ask_what_it_says() {
    for text in [
        "link?",
        "link please",
        "what's the link to the call?",
        "send me the link of the minutes",
        "kannst du mir den Link zum Protokoll schicken?",
        "pásame el enlace de la reunión",
        "kus on link?",
        "c'est quoi le lien de la visio ?",
        "mi mandi il link della riunione?",
        "wat is de link naar de vergadering?",
        "podaj link do nagrania",
        "qual é o link da reunião?",
        "дай ссылку на постмортем",
        "ссылка на созвон",
        "toplantının linki ne?",
        "дай посилання на протокол",
    ] {
        assert!(Languages::shipped().asks_for_link(text), "{text}");
    }
    for text in [
        "what does the link say?",
        "what's in the link?",
        "what's the link about?",
        "summarize the link",
        "can you send me a summary of the link?",
        "kannst du mir den Link zusammenfassen?",
        "de quoi parle le lien ?",
        "о чём статья по ссылке?",
        "who links the cables?",
    ] {
        assert!(!Languages::shipped().asks_for_link(text), "{text}");
    }
}

#[test]
fn questions_about_what_was_missed_are_read_in_many_words() {
    let missed = |ask: &&&str| asks_what_was_missed(ask);
    let asked = [
        "what did I miss?",
        "anything happen since I left?",
        "what happened since I left?",
        "did anything interesting happen while I was gone?",
        "what did you guys talk about while I was gone?",
        "what happened since my last message?",
        "tldr since I was last here?",
        "summary of what I missed pls",
        "what did i miss? was asleep",
        "while I was asleep, what happened?",
        "gab es was neues seit ich weg war?",
        "was ist passiert während ich weg war",
        "¿qué pasó mientras dormía?",
        "il s'est passé quoi pendant mon absence ?",
        "cosa è successo mentre dormivo?",
        "wat is er gebeurd terwijl ik sliep?",
        "co się działo, kiedy mnie nie było?",
        "o que aconteceu enquanto eu dormia?",
        "что обсуждали, пока меня не было?",
        "ben yokken neler konuşuldu?",
        "mis juhtus, kui mind polnud?",
        "що нового, поки мене не було?",
    ];
    let not_read: Vec<_> = asked.iter().filter(|ask| !missed(ask)).collect();
    assert!(not_read.is_empty(), "{not_read:?}");
    let others = [
        "what did Ana say about the boat while I was away?",
        "who fed the cat while I was gone?",
        "what happened to the printer since I left?",
        "what did i miss? and who won?",
        "since I left",
        "what did the dentist say while I was out?",
    ];
    let wrong: Vec<_> = others.iter().filter(missed).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_plea_to_the_others_for_a_summary_is_told_from_remarks() {
    for text in [
        "200+ messages in less than 24hrs… Somebody pls send me a summary",
        "what did I miss?",
        "guys, give me a summary",
        "kann mir wer sagen, was habe ich verpasst?",
    ] {
        assert!(asks_others_for_summary(text), "{text}");
    }
    for text in [
        "I bought new tyres",
        "thanks for the recap",
        "TLDR: we meet at 8",
        "yok",
        "@bot what did I miss?",
        "/recap 2h",
    ] {
        assert!(!asks_others_for_summary(text), "{text}");
    }
}
