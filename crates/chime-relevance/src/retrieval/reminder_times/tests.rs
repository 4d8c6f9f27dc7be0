use chrono::NaiveDate;

use super::*;

/// Reads an ask of Wednesday, 15 May 2024, 10:00 in Berlin.
fn asked(code: &str, ask: &str) -> AskedTime {
    let (now, zone) = (Timestamp::from_secs(1_715_760_000), Zone::parse("Europe/Berlin").expect("a zone"));
    reminder_time(ask, Language::from_code(code), now, zone)
}

/// Returns the time in Berlin that an ask names, "past" or "unsupported"; an empty text for a question.
fn read(code: &str, ask: &str) -> String {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    let local = |at, form| zone.local(at).format(form).to_string();
    if Languages::shipped().reminder_prefix_len(ask).is_none() {
        return String::new();
    }
    match asked(code, ask) {
        AskedTime::Time(time) => {
            let repeat = match time.repeat {
                None => String::new(),
                Some(Repeat::Daily) => " daily".to_owned(),
                Some(Repeat::Weekly(day)) => format!(" {day}"),
            };
            let until = time.until.map_or_else(String::new, |until| local(until, " until %m-%d"));
            format!("{}{repeat}{until}", local(time.at, "%m-%d %H:%M"))
        }
        AskedTime::Unsupported => "unsupported".to_owned(),
        AskedTime::Past => "past".to_owned(),
        AskedTime::Unreadable => "unreadable".to_owned(),
        AskedTime::None => String::new(),
    }
}

fn wrong<'a>(code: &'a str, asks: &'a [(&str, &str)]) -> impl Iterator<Item = String> + 'a {
    let is_wrong = |(ask, expected): &&(&str, &str)| read(code, ask) != *expected;
    asks.iter().filter(is_wrong).map(|(ask, expected)| format!("{ask}: {:?}, not {expected:?}", read(code, ask)))
}

#[track_caller]
fn check(code: &str, asks: &[(&str, &str)]) {
    assert_eq!(wrong(code, asks).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn somebody_else_is_reminded_too() {
    let asks = [
        ("remind ben tomorrow at 10 to bring the drill", "05-16 10:00"),
        ("please remind Ben and Cleo on monday at 9 about the keys", "05-20 09:00"),
        ("erinnere jens morgen um 9 an den Schlüssel", "05-16 09:00"),
        ("recuérdale a Marta mañana a las 9 que llame", "05-16 09:00"),
        ("rappelle à Luc demain à 9h d'appeler", "05-16 09:00"),
        ("herinner Piet morgen om 9 uur aan de sleutel", "05-16 09:00"),
        ("remind me of this on sunday", "05-19 09:00"),
        ("remind me of that in two hours", "05-15 12:00"),
        ("remind ben what we said on friday", ""),
        ("remind ben about the drill", ""),
        ("what does this remind you of", ""),
    ];
    for (ask, expected) in asks {
        assert_eq!(read("eng", ask), expected, "{ask}");
    }
}

#[test]
fn reminders_are_read_in_english() {
    check(
        "eng",
        &[
            ("remind us on friday at nine to order the wood", "05-17 09:00"),
            ("remind us on wednesday at noon to order the wood", "05-15 12:00"),
            ("remind us on wednesday at nine to order the wood", "05-22 09:00"),
            ("remind me tomorrow", "05-16 09:00"),
            ("remind me in 20 minutes to turn off the oven", "05-15 10:20"),
            ("please remind me in an hour", "05-15 11:00"),
            ("remind us in half an hour", "05-15 10:30"),
            ("remind me in two hours to call Ben", "05-15 12:00"),
            ("remind me in 3 days about the ferry", "05-18 09:00"),
            ("remind me in 2h to call Ben", "05-15 12:00"),
            ("remind me in 30m", "05-15 10:30"),
            ("remind me in 2h30m: the bread", "05-15 12:30"),
            ("remind me in 2h30: the bread", "05-15 12:30"),
            ("remind me in 90: the bread", ""),
            ("remind me at 11: the bread", "05-15 11:00"),
            ("remind me in 2:30: the bread", "05-15 12:30"),
            ("remind me in 1 hour and 30 minutes", "05-15 11:30"),
            ("remind me in 1 hour 15 min to go", "05-15 11:15"),
            ("remind me in 1.5 hours to go", "05-15 11:30"),
            ("remind me after 11:30 to call", "05-15 11:30"),
            ("remind me at 5:30 p.m. today", "05-15 17:30"),
            ("remind us every monday 9:00 to water the plants", "05-20 09:00 Mon"),
            ("remind us every monday at 9:00 until 1 June", "05-20 09:00 Mon until 06-02"),
            ("remind me daily at 8pm", "05-15 20:00 daily"),
            ("remind me every day at 7:30 until 20.05.2024", "05-16 07:30 daily until 05-21"),
            ("remind us every monday 9:00 until 2024-06-01: water the plants", "05-20 09:00 Mon until 06-02"),
            ("remind us every monday 9:00 until 01.06.2024: water the plants", "05-20 09:00 Mon until 06-02"),
            ("can you remind us tomorrow evening?", "05-16 19:00"),
            ("remind me at 3 to leave", "05-15 15:00"),
            ("remind me at nine", "05-16 09:00"),
            ("remind me today at nine", "05-15 21:00"),
            ("remind me tonight", "05-15 19:00"),
            ("remind me on 3 June", "06-03 09:00"),
            ("remind me on June 3rd at 6:15 pm that the bill is due", "06-03 18:15"),
            ("remind us on 2024-12-24 at 18:00", "12-24 18:00"),
            ("remind me on 3 January to pay", "01-03 09:00"),
            ("Remind me next monday about the keys", "05-20 09:00"),
            ("set a reminder for friday noon", "05-17 12:00"),
            ("remind us in a week to pay the dues", "05-22 09:00"),
            ("remind me on saturday afternoon", "05-18 15:00"),
            ("remind us every sunday evening", "05-19 19:00 Sun"),
            ("remind us every friday at 9:00 to plan monday", "05-17 09:00 Fri"),
            ("remind me on 1 June at noon", "06-01 12:00"),
        ],
    );
}

#[test]
fn reminders_are_read_in_other_languages() {
    check(
        "deu",
        &[
            ("erinnere uns am Freitag um neun, das Holz zu bestellen", "05-17 09:00"),
            ("erinnere mich morgen", "05-16 09:00"),
            ("erinnere mich in 20 Minuten an den Ofen", "05-15 10:20"),
            ("erinnere mich in 2,5 Stunden an den Ofen", "05-15 12:30"),
            ("erinnere mich in 1 Stunde und 15 Minuten an den Ofen", "05-15 11:15"),
            ("erinnere uns jeden Montag um 9 Uhr bis 3. Juni", "05-20 09:00 Mon until 06-04"),
            ("erinnere mich übermorgen um halb zehn", "05-17 09:30"),
            ("erinnere mich heute Abend", "05-15 19:00"),
            ("erinnere uns am Samstag Nachmittag", "05-18 15:00"),
            ("erinnere mich in zwei Stunden", "05-15 12:00"),
            ("erinnere uns täglich um 8 Uhr", "05-16 08:00 daily"),
            ("erinnere mich am 3. Juni um 18 Uhr", "06-03 18:00"),
            ("erinnere mich in einer Woche", "05-22 09:00"),
        ],
    );
    check(
        "spa",
        &[
            ("recuérdanos el viernes a las nueve pedir la leña", "05-17 09:00"),
            ("recuérdame mañana", "05-16 09:00"),
            ("recuérdame en 20 minutos", "05-15 10:20"),
            ("recuérdanos todos los lunes a las 9:00", "05-20 09:00 Mon"),
            ("recuérdame que mañana por la tarde hay reunión", "05-16 15:00"),
            ("recuérdame el 3 de junio a las 18:00", "06-03 18:00"),
            ("recuérdame en dos horas", "05-15 12:00"),
            ("recuérdanos cada día a las 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "fra",
        &[
            ("rappelle-nous vendredi à neuf heures de commander le bois", "05-17 09:00"),
            ("rappelle-moi demain", "05-16 09:00"),
            ("rappelle-moi dans 20 minutes", "05-15 10:20"),
            ("rappelle-moi dans 2h30 de partir", "05-15 12:30"),
            ("rappelle-nous chaque lundi à 9h30", "05-20 09:30 Mon"),
            ("rappelle-moi ce soir", "05-15 19:00"),
            ("rappelle-moi le 3 juin à 18h", "06-03 18:00"),
            ("rappelle-moi dans deux heures", "05-15 12:00"),
            ("rappelle-nous tous les jours à 8h", "05-16 08:00 daily"),
        ],
    );
    check(
        "ita",
        &[
            ("ricordaci venerdì alle nove di ordinare la legna", "05-17 09:00"),
            ("ricordami domani", "05-16 09:00"),
            ("ricordami tra 20 minuti", "05-15 10:20"),
            ("ricordami tra un'ora", "05-15 11:00"),
            ("ricordaci ogni lunedì alle 9", "05-20 09:00 Mon"),
            ("ricordami il 3 giugno alle 18:00", "06-03 18:00"),
            ("ricordami tra due ore", "05-15 12:00"),
            ("ricordaci ogni giorno alle 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "por",
        &[
            ("lembre-nos na sexta às nove de pedir a lenha", "05-17 09:00"),
            ("me lembre amanhã", "05-16 09:00"),
            ("me lembre em 20 minutos", "05-15 10:20"),
            ("lembre-nos toda segunda-feira às 9h", "05-20 09:00 Mon"),
            ("me lembre no dia 3 de junho às 18h", "06-03 18:00"),
            ("me lembre em duas horas", "05-15 12:00"),
            ("lembre-nos todos os dias às 8h", "05-16 08:00 daily"),
        ],
    );
    check(
        "nld",
        &[
            ("herinner ons vrijdag om negen uur aan het hout", "05-17 09:00"),
            ("herinner me morgen", "05-16 09:00"),
            ("herinner me over 20 minuten", "05-15 10:20"),
            ("herinner ons elke maandag om half tien", "05-20 09:30 Mon"),
            ("herinner me op 3 juni om 18:00", "06-03 18:00"),
            ("herinner me over twee uur", "05-15 12:00"),
            ("herinner ons elke dag om 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "pol",
        &[
            ("przypomnij nam w piątek o dziewiątej o drewnie", "05-17 09:00"),
            ("przypomnij mi jutro", "05-16 09:00"),
            ("przypomnij mi za 20 minut", "05-15 10:20"),
            ("przypomnij nam w każdy poniedziałek o 9:00", "05-20 09:00 Mon"),
            ("przypomnij mi 3 czerwca o 18:00", "06-03 18:00"),
            ("przypomnij mi za dwie godziny", "05-15 12:00"),
            ("przypomnij nam codziennie o 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "rus",
        &[
            ("напомни нам в пятницу в девять заказать дрова", "05-17 09:00"),
            ("напомни мне завтра", "05-16 09:00"),
            ("напомни через 20 минут", "05-15 10:20"),
            ("напомни через час", "05-15 11:00"),
            ("напомни нам каждый понедельник в 9:00", "05-20 09:00 Mon"),
            ("напомни мне, что завтра в 7 вечера встреча", "05-16 19:00"),
            ("напомни мне 3 июня в 18:00", "06-03 18:00"),
            ("напомни через два часа", "05-15 12:00"),
            ("напомни нам каждый день в 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "ukr",
        &[
            ("нагадай нам у п'ятницю о дев'ятій замовити дрова", "05-17 09:00"),
            ("нагадай мені завтра", "05-16 09:00"),
            ("нагадай через 20 хвилин", "05-15 10:20"),
            ("нагадай нам кожного понеділка о 9:00", "05-20 09:00 Mon"),
            ("нагадай мені 3 червня о 18:00", "06-03 18:00"),
            ("нагадай через дві години", "05-15 12:00"),
            ("нагадай нам щодня о 8:00", "05-16 08:00 daily"),
        ],
    );
    check(
        "tur",
        &[
            ("cuma günü saat dokuzda odun sipariş etmeyi bize hatırlat", "05-17 09:00"),
            ("yarın bana hatırlat", "05-16 09:00"),
            ("20 dakika sonra bana hatırlat", "05-15 10:20"),
            ("her pazartesi saat 9:00 bize hatırlat", "05-20 09:00 Mon"),
            ("3 haziran saat 18:00 bana hatırlat", "06-03 18:00"),
            ("iki saat sonra bana hatırlat", "05-15 12:00"),
            ("her gün saat 8:00 bize hatırlat", "05-16 08:00 daily"),
        ],
    );
    check(
        "est",
        &[
            ("tuleta meile reedel kell üheksa meelde puid tellida", "05-17 09:00"),
            ("tuleta mulle homme meelde", "05-16 09:00"),
            ("tuleta mulle 20 minuti pärast meelde", "05-15 10:20"),
            ("tuleta meile igal esmaspäeval kell 9:00 meelde", "05-20 09:00 Mon"),
            ("tuleta mulle 3. juunil kell 18:00 meelde", "06-03 18:00"),
            ("tuleta mulle kahe tunni pärast meelde", "05-15 12:00"),
            ("tuleta meile iga päev kell 8:00 meelde", "05-16 08:00 daily"),
        ],
    );
}

#[test]
fn reminders_are_read_as_people_write_them() {
    let asks: [(&str, &[(&str, &str)]); 12] = [
        (
            "eng",
            &[
                ("pls remind me to call mum at 6", "05-15 18:00"),
                ("don't let me forget the dentist on monday at 8am", "05-20 08:00"),
                ("hey, can you remind us on sunday around noon to pack the car", "05-19 12:00"),
                ("remind me in 45 mins to move the car", "05-15 10:45"),
                ("ping me tomorrow at 7:15 about the train", "05-16 07:15"),
                ("remind me the day after tomorrow to water the plants", "05-17 09:00"),
                ("remind everyone on thursday at 5pm that the rehearsal moved", "05-16 17:00"),
                ("remind me next week to book the ferry", "05-22 09:00"),
                ("remind us at half past nine to leave", "05-16 09:30"),
                ("remind me every evening at 8 to lock the shed", "05-15 20:00 daily"),
                ("reminder: tomorrow at 8, bins out", "05-16 08:00"),
                ("remind me tomorrow to call mum at 5", "05-16 17:00"),
                ("remind us every friday to lock up at 21:30", "05-17 21:30 Fri"),
                ("remind me tomorrow that we met at 5 with Ben", "05-16 09:00"),
            ],
        ),
        (
            "deu",
            &[
                ("kannst du uns morgen früh an die Brötchen erinnern?", "05-16 09:00"),
                ("kannst du mich morgen um 8 an den Müll erinnern?", "05-16 08:00"),
                ("erinner mich bitte heute um 18 Uhr, dass ich Brot kaufe", "05-15 18:00"),
                ("bitte erinnere uns am Sonntag um 10 an die Wanderung", "05-19 10:00"),
                ("erinnere mich in ner halben Stunde an die Wäsche", "05-15 10:30"),
                ("erinnere mich nächsten Dienstag um halb acht", "05-21 07:30"),
                ("erinnere uns jeden Abend um 20 Uhr an die Tabletten", "05-15 20:00 daily"),
                ("erinnere mich nächste Woche an die Miete", "05-22 09:00"),
                ("Erinnerung: morgen 8 Uhr Müll rausbringen", "05-16 08:00"),
            ],
        ),
        (
            "spa",
            &[
                ("avísame mañana a las 7 y media para salir", "05-16 07:30"),
                ("me puedes recordar el sábado por la mañana lo del pan?", "05-18 09:00"),
                ("recuérdame esta noche sacar la basura", "05-15 19:00"),
                ("recuérdanos la semana que viene pagar el alquiler", "05-22 09:00"),
                ("recuérdanos todas las noches a las 21:00 cerrar el gas", "05-15 21:00 daily"),
                ("recordatorio: mañana a las 8 médico", "05-16 08:00"),
            ],
        ),
        (
            "fra",
            &[
                ("rappelle-moi de sortir les poubelles ce soir à 20h", "05-15 20:00"),
                ("tu peux me rappeler demain à 14h d'appeler le plombier ?", "05-16 14:00"),
                ("rappelle-nous samedi matin d'acheter du pain", "05-18 09:00"),
                ("rappelle-moi la semaine prochaine de payer le loyer", "05-22 09:00"),
                ("rappelle-moi à midi d'appeler Luc", "05-15 12:00"),
                ("rappelle-nous tous les mardis à 18h30", "05-21 18:30 Tue"),
                ("rappelle-moi demain à sept heures et demie", "05-16 07:30"),
            ],
        ),
        (
            "ita",
            &[
                ("ricordami di chiamare il dottore domani alle 9 e mezza", "05-16 09:30"),
                ("mi ricordi giovedì alle 18 di comprare il latte?", "05-16 18:00"),
                ("ricordaci ogni sera alle 21 di chiudere il gas", "05-15 21:00 daily"),
                ("ricordami dopodomani di pagare l'affitto", "05-17 09:00"),
                ("ricordami stasera di portare fuori la spazzatura", "05-15 19:00"),
                ("ricordami la prossima settimana di prenotare", "05-22 09:00"),
            ],
        ),
        (
            "por",
            &[
                ("me lembra de ligar pro João amanhã às 15h", "05-16 15:00"),
                ("pode me lembrar hoje à noite de tirar o lixo?", "05-15 19:00"),
                ("me avisa em meia hora", "05-15 10:30"),
                ("lembra a gente no sábado às 10 e meia do churrasco", "05-18 10:30"),
                ("me lembre todo domingo à noite de ligar pra mãe", "05-19 19:00 Sun"),
                ("me lembra semana que vem de renovar o passe", "05-22 09:00"),
            ],
        ),
        (
            "nld",
            &[
                ("kun je me morgen om 8 uur aan de vuilnis herinneren?", "05-16 08:00"),
                ("herinner ons zaterdagochtend aan de markt", "05-18 09:00"),
                ("herinner me vanavond aan het eten", "05-15 19:00"),
                ("herinner ons volgende week aan de huur", "05-22 09:00"),
                ("help me herinneren: vrijdag om half vijf de kinderen halen", "05-17 16:30"),
                ("herinner ons elke avond om 21:00 aan de poes", "05-15 21:00 daily"),
            ],
        ),
        (
            "pol",
            &[
                ("przypomnij mi jutro rano o chlebie", "05-16 09:00"),
                ("przypomnisz mi w sobotę o 17 o urodzinach?", "05-18 17:00"),
                ("przypomnij nam za pół godziny o praniu", "05-15 10:30"),
                ("przypomnij mi dziś wieczorem, żeby zadzwonić do mamy", "05-15 19:00"),
                ("przypomnij mi w przyszłym tygodniu o czynszu", "05-22 09:00"),
                ("przypomnij mi w piątek o wpół do piątej o spotkaniu", "05-17 16:30"),
            ],
        ),
        (
            "rus",
            &[
                ("напомни завтра утром купить хлеб", "05-16 09:00"),
                ("напомни пожалуйста в субботу в полдень про пикник", "05-18 12:00"),
                ("напомнишь мне в пятницу в половине шестого?", "05-17 17:30"),
                ("не дай забыть про врача завтра в 8 утра", "05-16 08:00"),
                ("напомни через полчаса выключить духовку", "05-15 10:30"),
                ("напоминай нам каждый вечер в 21:00 про таблетки", "05-15 21:00 daily"),
                ("напомни на следующей неделе оплатить интернет", "05-22 09:00"),
            ],
        ),
        (
            "ukr",
            &[
                ("нагадай завтра вранці купити хліб", "05-16 09:00"),
                ("нагадай, будь ласка, у суботу об 11 про пікнік", "05-18 11:00"),
                ("нагадуй нам щовечора о 21:00 про ліки", "05-15 21:00 daily"),
                ("нагадай за пів години вимкнути духовку", "05-15 10:30"),
                ("нагадай наступного тижня сплатити за інтернет", "05-22 09:00"),
                ("нагадаєш мені в п'ятницю о пів на шосту?", "05-17 17:30"),
            ],
        ),
        (
            "tur",
            &[
                ("yarın sabah ekmek almayı hatırlat", "05-16 09:00"),
                ("cumartesi öğlen pikniği hatırlatır mısın?", "05-18 12:00"),
                ("yarım saat sonra fırını kapatmamı hatırlat", "05-15 10:30"),
                ("bu akşam çöpü çıkarmayı hatırlat", "05-15 19:00"),
                ("her akşam saat 21:00 ilacı hatırlat", "05-15 21:00 daily"),
                ("gelecek hafta kirayı ödemeyi hatırlat", "05-22 09:00"),
                ("yarın dokuz buçukta toplantıyı hatırlat", "05-16 09:30"),
            ],
        ),
        (
            "est",
            &[
                ("tuleta homme hommikul meelde, et ostame leiba", "05-16 09:00"),
                ("kas sa tuletad mulle reedel kell 17 meelde?", "05-17 17:00"),
                ("tuleta mulle poole tunni pärast ahju meelde", "05-15 10:30"),
                ("tuleta meile laupäeval pool kümme turgu meelde", "05-18 09:30"),
                ("tuleta mulle järgmisel nädalal üür meelde", "05-22 09:00"),
                ("tuleta meile igal õhtul kell 21 rohtu meelde", "05-15 21:00 daily"),
                ("tuleta mulle täna õhtul prügi meelde", "05-15 19:00"),
            ],
        ),
    ];
    let wrong: Vec<String> = asks.iter().flat_map(|(code, asks)| wrong(code, asks)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_words_of_the_task_move_no_reminder() {
    check(
        "eng",
        &[
            ("remind me tomorrow at 9 that the shop closes at 6pm", "05-16 09:00"),
            ("remind me tomorrow to call ben on friday", "05-16 09:00"),
            ("remind us tomorrow that we leave in 2 hours", "05-16 09:00"),
            ("remind me tonight at 8 about the 7 am flight", "05-15 20:00"),
            ("remind me in 1 hour for 30 minutes of reading", "05-15 11:00"),
            ("remind me in an hour the 20 minutes timer", "05-15 11:00"),
            ("remind me at 10am to water every 2 days", "05-16 10:00"),
            ("remind me at 9 to take a pill every 8 hours", "05-16 09:00"),
            ("remind us on friday to check every month", "05-17 09:00"),
            ("remind us every friday: plan for monday", "05-17 09:00 Fri"),
            ("remind me to call ben about the friday party tomorrow at 8", "05-16 08:00"),
            ("remind me to give each guest a key tomorrow at 9", "05-16 09:00"),
            ("remind me to send the weekly report tomorrow at 8", "05-16 08:00"),
            ("remind me to meet ben on the 20th floor at 11", "05-15 11:00"),
        ],
    );
    check(
        "deu",
        &[
            ("erinnere mich morgen um 18 Uhr an Karls Geburtstag am 3. Juni", "05-16 18:00"),
            ("erinnere uns am Samstag um 11 ans Grillen ab 14 Uhr", "05-18 11:00"),
            ("erinnere uns alle morgen an die Miete", "05-16 09:00"),
            ("kannst du mich morgen um 18 Uhr an den Termin am Freitag erinnern?", "05-16 18:00"),
        ],
    );
    check(
        "spa",
        &[
            ("recuérdame el domingo por la noche comprar pan el lunes", "05-19 19:00"),
            ("recuérdame mañana tomar la pastilla cada 8 horas", "05-16 09:00"),
            ("recuérdame a las 9 tomar la pastilla cada 8 horas", "05-16 09:00"),
            ("recuérdame llamar a todos los socios mañana a las 8", "05-16 08:00"),
        ],
    );
    check("por", &[("me lembre amanhã de tomar o remédio a cada 8 horas", "05-16 09:00")]);
    check("rus", &[("напомни в 9 принимать таблетку каждые 8 часов", "05-16 09:00")]);
    let language = Language::DEFAULT;
    let (now, zone) = (Timestamp::from_secs(1_715_760_000), Zone::UTC);
    let time = reminder_time("me tomorrow at 8 that the shop closes at 6pm", language, now, zone);
    assert!(matches!(time, AskedTime::Time(time) if zone.clock_time(time.at) == "08:00"), "{time:?}");
}

#[test]
fn other_forms_of_a_time_are_read() {
    let asks: [(&str, &[(&str, &str)]); 12] = [
        (
            "eng",
            &[
                ("remind me today to call Ben", "05-15 12:00"),
                ("remind us today: buy bread", "05-15 12:00"),
                ("remind me today of the rules", "05-15 12:00"),
                ("remind me in 1h 30m", "05-15 11:30"),
                ("remind me in 1h 30min", "05-15 11:30"),
                ("remind me in 1h and 30m", "05-15 11:30"),
                ("remind me in 1 hour 30m", "05-15 11:30"),
                ("remind me in 1 h 30m", "05-15 11:30"),
                ("remind me in 1h:30m", "05-15 11:30"),
                ("remind me in an hour and a half", "05-15 11:30"),
                ("remind me in two and a half hours", "05-15 12:30"),
                ("remind me in a few minutes", "05-15 10:03"),
                ("remind me in twenty five minutes", "05-15 10:25"),
                ("remind me in 1.5h to go", "05-15 11:30"),
                ("remind me in 2w to pay", "05-29 09:00"),
                ("remind me in 2d to pay", "05-17 09:00"),
                ("remind me in 120s", "05-15 10:02"),
                ("remind me after 2h to drink", "05-15 12:00"),
                ("remind me 2 hours later", "05-15 12:00"),
                ("remind me mondays at 9", "05-20 09:00 Mon"),
                ("remind us every morning", "05-16 09:00 daily"),
                ("remind me on the 20th", "05-20 09:00"),
                ("remind me to pay the rent on the 3rd at 8", "06-03 08:00"),
                ("remind me on 5/20 at 9", "05-20 09:00"),
                ("remind me on 20/5 at 9", "05-20 09:00"),
                ("remind me on 6/5 at 9", "unsupported"),
                ("remind me at quarter past nine", "05-16 09:15"),
                ("remind me at quarter to twelve", "05-15 11:45"),
                ("remind me tomorrow at ten past nine", "05-16 09:10"),
                ("remind me tomorrow at nine thirty", "05-16 09:30"),
                ("remind me on fri at 9", "05-17 09:00"),
                ("remind me on friday 24 May at 9", "05-24 09:00"),
                ("remind me today at 12 noon", "05-15 12:00"),
                ("remind me at 9 in the evening", "05-15 21:00"),
                ("remind me at 18:00-19:00 tomorrow", "05-16 18:00"),
            ],
        ),
        (
            "deu",
            &[
                ("erinnere mich heute an die Miete", "05-15 12:00"),
                ("erinnere mich in 1 h 30 min", "05-15 11:30"),
                ("erinnere mich in 1 Std. 30 Min.", "05-15 11:30"),
                ("erinnere mich in anderthalb Stunden", "05-15 11:30"),
                ("erinnere mich am 20. um 9 Uhr", "05-20 09:00"),
                ("erinnere mich um Viertel nach elf", "05-15 11:15"),
                ("erinnere mich morgen um 9 Uhr 30", "05-16 09:30"),
                ("erinnere uns montags um 9", "05-20 09:00 Mon"),
                ("erinnere mich um halb eins", "05-15 12:30"),
                ("erinnere uns am Freitagabend ans Kino", "05-17 19:00"),
                ("erinnere mich am 20.5. um 9", "05-20 09:00"),
            ],
        ),
        (
            "spa",
            &[
                ("recuérdame hoy comprar pan", "05-15 12:00"),
                ("recuérdame en una hora y media", "05-15 11:30"),
                ("recuérdame el día 20 pagar", "05-20 09:00"),
                ("recuérdame el 20/5 a las 9", "05-20 09:00"),
                ("recuérdame mañana a las nueve y cuarto", "05-16 09:15"),
                ("recuérdanos los lunes a las 9", "05-20 09:00 Mon"),
            ],
        ),
        (
            "fra",
            &[
                ("rappelle-moi dans une heure et demie", "05-15 11:30"),
                ("rappelle-moi aujourd'hui d'acheter du pain", "05-15 12:00"),
                ("rappelle-moi le 20 à 9h", "05-20 09:00"),
                ("rappelle-moi demain à neuf heures et quart", "05-16 09:15"),
                ("rappelle-moi lundi prochain à 8h", "05-20 08:00"),
            ],
        ),
        (
            "ita",
            &[
                ("ricordami tra un'ora e mezza", "05-15 11:30"),
                ("ricordami oggi di comprare il pane", "05-15 12:00"),
                ("ricordami il 20 alle 9", "05-20 09:00"),
                ("ricordami domani alle nove e un quarto", "05-16 09:15"),
            ],
        ),
        (
            "por",
            &[
                ("me lembre em uma hora e meia", "05-15 11:30"),
                ("me lembre hoje de comprar pão", "05-15 12:00"),
                ("me lembre dia 20 às 9h", "05-20 09:00"),
            ],
        ),
        (
            "nld",
            &[
                ("herinner me over anderhalf uur", "05-15 11:30"),
                ("herinner me vandaag aan de huur", "05-15 12:00"),
                ("herinner me morgen om kwart over negen", "05-16 09:15"),
            ],
        ),
        (
            "pol",
            &[
                ("przypomnij mi za półtorej godziny", "05-15 11:30"),
                ("przypomnij mi dzisiaj o chlebie", "05-15 12:00"),
                ("przypomnij mi jutro kwadrans po dziewiątej", "05-16 09:15"),
            ],
        ),
        (
            "rus",
            &[
                ("напомни мне сегодня позвонить маме", "05-15 12:00"),
                ("напомни через 2ч", "05-15 12:00"),
                ("напомни через 2 ч", "05-15 12:00"),
                ("напомни через 30м", "05-15 10:30"),
                ("напомни через полтора часа", "05-15 11:30"),
                ("напомни 20 числа в 9", "05-20 09:00"),
                ("напоминай по понедельникам в 9", "05-20 09:00 Mon"),
                ("напоминай по вечерам про таблетки", "05-15 19:00 daily"),
                ("напомни завтра в четверть десятого", "05-16 09:15"),
            ],
        ),
        (
            "ukr",
            &[
                ("нагадай мені сьогодні купити хліб", "05-15 12:00"),
                ("нагадай через півтори години", "05-15 11:30"),
                ("нагадай щопонеділка о 9:00", "05-20 09:00 Mon"),
                ("нагадай 20 числа о 9", "05-20 09:00"),
            ],
        ),
        (
            "tur",
            &[
                ("bugün ekmek almayı hatırlat", "05-15 12:00"),
                ("bir buçuk saat sonra hatırlat", "05-15 11:30"),
                ("pazar günü saat 9'da hatırlat", "05-19 09:00"),
                ("yarın saat 18:30'da hatırlat", "05-16 18:30"),
            ],
        ),
        (
            "est",
            &[
                ("tuleta mulle täna leib meelde", "05-15 12:00"),
                ("tuleta mulle poolteise tunni pärast meelde", "05-15 11:30"),
                ("tuleta meile homme kell veerand kümme meelde", "05-16 09:15"),
            ],
        ),
    ];
    let wrong: Vec<String> = asks.iter().flat_map(|(code, asks)| wrong(code, asks)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn repetitions_that_are_not_supported_are_never_set_once() {
    for (code, asks) in [
        (
            "eng",
            vec![
                "remind us every monday and every friday at 9",
                "remind us every monday at 9 and thursday at 10",
                "remind us every monday and on friday",
                "remind us every monday at 9:00 and tuesday",
                "remind us on mondays and fridays at 9",
                "remind me every 2h to drink",
                "remind me to stretch every 2h",
                "remind me to pay ben every payday at 9",
                "remind me every other day",
                "remind me every 2nd day at 9",
                "remind me every second monday",
                "remind me every weekday at 9",
                "remind me every year on 1 June",
                "remind me weekdays at 9",
                "remind me to pay the rent monthly",
                "remind me every morning and evening",
                "remind me tomorrow at 9am and on friday at 10",
            ],
        ),
        (
            "deu",
            vec![
                "erinnere uns jeden Montag und jeden Freitag um 9",
                "erinnere uns jeden Montag und am Freitag um 9",
                "erinnere mich alle 2h ans Trinken",
                "erinnere uns alle zwei Tage um 9",
                "erinnere uns alle vier Wochen um 9",
                "erinnere mich jeden zweiten Tag",
                "erinnere mich jedes Jahr am 1. Juni",
                "erinnere uns montags und donnerstags um 9",
                "erinnere uns werktags um 9",
            ],
        ),
        (
            "spa",
            vec![
                "recuérdame cada 8 horas tomar la pastilla",
                "recuérdame cada año el 1 de junio",
                "recuérdanos los lunes y los jueves a las 9",
            ],
        ),
        (
            "fra",
            vec![
                "rappelle-moi toutes les deux heures de boire",
                "rappelle-moi chaque année le 1 juin",
                "rappelle-nous tous les lundis et jeudis à 9h",
            ],
        ),
        (
            "ita",
            vec![
                "ricordami ogni due ore di bere",
                "ricordami ogni anno il 1 giugno",
                "ricordaci ogni lunedì e giovedì alle 9",
            ],
        ),
        (
            "por",
            vec![
                "me lembre a cada 8 horas de tomar o remédio",
                "me lembre todo ano no dia 1 de junho",
                "lembre-nos toda segunda e quinta às 9h",
            ],
        ),
        (
            "nld",
            vec![
                "herinner me elke 2 uur aan water",
                "herinner ons elke maandag en donderdag om 9 uur",
                "herinner me om de dag",
            ],
        ),
        (
            "pol",
            vec![
                "przypomnij mi o wodzie co 2 godziny",
                "przypomnij mi o tym co drugi dzień",
                "przypomnij nam w każdy poniedziałek i czwartek o 9:00",
            ],
        ),
        (
            "rus",
            vec![
                "напоминай каждые 2 часа пить воду",
                "напомни нам каждый вторник и каждую пятницу в 9",
                "напоминай каждый год 1 июня",
                "напоминай по будням в 9",
            ],
        ),
        (
            "ukr",
            vec![
                "нагадуй кожні 2 години пити воду",
                "нагадай нам кожного понеділка та четверга о 9:00",
                "нагадуй щомісяця платити",
            ],
        ),
        (
            "tur",
            vec![
                "her 2 saatte bir su içmeyi hatırlat",
                "her pazartesi ve perşembe saat 9:00 hatırlat",
                "iki günde bir hatırlat",
            ],
        ),
        (
            "est",
            vec![
                "tuleta mulle iga 2 tunni järel vett meelde",
                "tuleta meile igal esmaspäeval ja neljapäeval kell 9 meelde",
                "tuleta mulle igal aastal meelde",
            ],
        ),
    ] {
        for ask in asks {
            assert_eq!(read(code, ask), "unsupported", "{ask}");
        }
    }
}

#[test]
fn questions_are_no_reminders() {
    for (code, asks) in [
        (
            "eng",
            vec![
                "remind me what we decided about the wood?",
                "remind me what we decided on friday",
                "remind me when the ferry leaves on monday",
                "remind us who brings the tent tomorrow",
                "remind me of the wood we discussed yesterday",
                "remind me about the budget",
                "can you remind us where we meet tonight?",
                "remind me how to get there",
                "remind me why we moved the party to friday",
                "did ana remind us on friday about the wood?",
                "who reminds us tomorrow?",
                "what did you remind me of on monday?",
                "this reminds me of last summer",
                "when is the reminder on friday?",
                "summarize friday at nine",
                "remind me in the group of the rules",
                "remind me that I am great",
                "remind me to order 20 planks",
                "remind me in 4000000000 hours",
                "remind me in 18446744073709551615h",
                "remind me in 2x to go",
                "what is the next reminder?",
                "can somebody remind me who has the key on friday",
            ],
        ),
        (
            "deu",
            vec![
                "erinnere mich, was wir am Freitag beschlossen haben",
                "erinnere uns daran",
                "wer erinnert uns morgen?",
                "woran soll ich euch am Freitag erinnern?",
                "kann sich jemand an das Rezept erinnern?",
            ],
        ),
        (
            "spa",
            vec![
                "recuérdame qué decidimos",
                "recuérdanos cuándo es la cena de mañana",
                "¿quién nos lo recuerda mañana?",
            ],
        ),
        ("fra", vec!["rappelle-moi pourquoi on part demain", "rappelle-nous le prix du bois"]),
        ("ita", vec!["ricordami cosa abbiamo deciso", "ricordaci chi viene domani"]),
        ("por", vec!["me lembre quem vem amanhã", "lembre-nos do preço"]),
        ("nld", vec!["herinner me wanneer de boot morgen gaat"]),
        ("pol", vec!["przypomnij mi, co ustaliliśmy w piątek", "kto przyjdzie jutro?"]),
        ("rus", vec!["напомни, что мы решили про дрова?", "напомни, когда завтра встреча", "кто придёт завтра?"]),
        ("ukr", vec!["нагадай, хто прийде завтра"]),
        ("tur", vec!["cuma günü ne karar verdiğimizi hatırlat"]),
        ("est", vec!["tuleta mulle meelde, mis me reedel otsustasime"]),
    ] {
        for ask in asks {
            assert_eq!(read(code, ask), "", "{ask}");
        }
    }
}

#[test]
fn other_repetitions_are_told_from_one_time() {
    for (code, ask) in [
        ("eng", "remind us every 2 weeks on monday at 9:00"),
        ("eng", "remind me every month on the 1st at 9:00"),
        ("eng", "remind me every hour until tomorrow"),
        ("eng", "remind us every monday and friday at 9:00"),
        ("eng", "remind us every monday, friday at 9:00"),
        ("deu", "erinnere uns jeden Montag und Donnerstag um 9 Uhr"),
        ("spa", "recuérdanos cada lunes y jueves a las 9:00"),
        ("deu", "erinnere uns jeden Monat am 3. um 9 Uhr"),
        ("spa", "recuérdanos cada dos semanas a las 9:00"),
        ("fra", "rappelle-nous chaque mois à 9h30"),
    ] {
        assert_eq!(read(code, ask), "unsupported", "{ask}");
    }
    for ask in [
        "remind us every monday at 9:00",
        "remind us every monday at 9:00 to book a table for friday",
        "remind me every day at 8",
        "remind me tomorrow to check every room",
        "remind me tomorrow at 9 to take a pill every 8 hours",
        "remind us in 2 hours: water every two days",
    ] {
        assert!(matches!(asked("eng", ask), AskedTime::Time(_)), "{ask}");
    }
}

#[test]
fn reminders_for_a_past_time_are_told_from_questions() {
    let is_past = |code: &str, ask: &str| asked(code, ask) == AskedTime::Past;
    for (code, ask) in [
        ("eng", "remind us on 2020-01-01"),
        ("eng", "remind me yesterday to buy milk"),
        ("eng", "can you remind me on 3 June 2023 to pay?"),
        ("eng", "remind me two days ago"),
        ("eng", "remind me yesterday at 10"),
        ("eng", "remind me at 9:00 yesterday"),
        ("eng", "remind me yesterday evening"),
        ("eng", "remind me last friday"),
        ("eng", "remind us every monday until 1 May 2024"),
        ("eng", "remind me today at 9:15 to call"),
        ("eng", "2020-01-01: pay the rent"),
        ("eng", "pay the rent on 1 May 2024"),
        ("deu", "erinnere uns am 1.1.2020 an das Holz"),
        ("spa", "recuérdame ayer comprar leche"),
        ("fra", "rappelle-moi hier d'acheter du lait"),
        ("ita", "ricordami il 3 giugno 2023 di pagare"),
        ("por", "me lembre ontem de pagar"),
        ("nld", "herinner me gisteren aan de melk"),
        ("pol", "przypomnij mi wczoraj o mleku"),
        ("rus", "напомни мне вчера купить молоко"),
        ("ukr", "нагадай мені вчора купити молоко"),
        ("tur", "dün bana hatırlat"),
        ("est", "tuleta mulle eile meelde"),
    ] {
        assert!(is_past(code, ask), "{ask}");
    }
    for ask in [
        "remind me of the wood we ordered yesterday",
        "remind me what we said yesterday",
        "remind me about the budget of 3 June 2023",
        "remind me about the wood",
        "remind me on friday",
        "remind me, yesterday we talked about a boat: which one?",
        "remind me of 3 June 2023",
        "remind me today of the rules",
    ] {
        assert!(!is_past("eng", ask), "{ask}");
    }
}

#[test]
fn clocks_that_change_keep_the_time_of_day() {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    let local = |day: u32, month| NaiveDate::from_ymd_opt(2026, month, day).and_then(|day| day.and_hms_opt(12, 0, 0));
    for (month, day) in [(3, 28), (10, 24)] {
        let now = zone.moment(local(day, month).expect("a time"));
        let read = |ask| match reminder_time(ask, Language::DEFAULT, now, zone) {
            AskedTime::Time(time) => Some(zone.clock_time(time.at)),
            _ => None,
        };
        assert_eq!(read("remind me tomorrow at 9:00"), Some("09:00".to_owned()));
        let skipped = read("remind me tomorrow at 2:30");
        assert_eq!(skipped.as_deref(), Some(if month == 3 { "03:30" } else { "02:30" }));
    }
}

#[test]
fn texts_that_name_a_time_near_their_own_are_told_from_others() {
    for text in
        ["see you tomorrow", "we meet at five", "out next week", "wir sehen uns am Freitag", "en 20 minutos salimos"]
    {
        assert!(names_time(text), "{text}");
    }
    // The last word may begin a time that never comes.
    for text in ["the boiler is a Junkers of 2009", "wait until", "the door code is secret", ""] {
        assert!(!names_time(text), "{text}");
    }
}

#[test]
fn the_day_that_a_task_names_ends_at_midnight() {
    let (said_at, zone) = (Timestamp::from_secs(1_715_760_000), Zone::parse("Europe/Berlin").expect("a zone"));
    let end = |text| end_of_named_day(text, said_at, zone).map(|end| zone.local(end).format("%m-%d %H:%M").to_string());
    for (text, expected) in [
        ("I'll call him in about 30 mins", "05-16 00:00"),
        ("I'll do the dishes tonight", "05-16 00:00"),
        ("I'll book it today", "05-16 00:00"),
        ("Zoe and Monika measure the studio on 5 October", "10-06 00:00"),
        ("Ich rufe am Freitag an", "05-18 00:00"),
        ("я закажу доски для забора завтра", "05-17 00:00"),
    ] {
        assert_eq!(end(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["I'll bring the 3 chairs", "I'll clean the hall every monday", "I'll order the wood"] {
        assert_eq!(end(text), None, "{text}");
    }
}

#[test]
fn a_number_that_is_no_time_of_day_is_refused() {
    // The words behind `/remind`, in a chat in English.
    for ask in [
        "tomorrow at 25:00 test",
        "tomorrow at 9:75 test",
        "tomorrow at 25: x",
        "tomorrow 3 eggs",
        "every monday at 25:00 test",
        "call mum tomorrow at 25:00",
        "tomorrow to call mum at 25:00",
        "el lunes a las 26 prueba",
        "samstag 25 uhr test",
        "morgen um 25 Uhr Holz",
        "demain à 25 heures le bois",
        "domani alle 26 legna",
        "amanhã às 25h lenha",
        "morgen om 26 uur hout",
        "jutro o 26 drewno",
        "завтра в 25:00 дрова",
        "завтра о 26 дрова",
        "yarın saat 26 odun",
        "homme kell 26 puud",
    ] {
        assert_eq!(asked("eng", ask), AskedTime::Unreadable, "{ask}");
    }
    for ask in ["at 25:00 x", "at 26: x", "um 25 Uhr x"] {
        assert!(matches!(asked("eng", ask), AskedTime::Unreadable | AskedTime::None), "{ask}");
    }
    for ask in ["tomorrow: 3 eggs", "on 3 June 2025 the bill", "in 20 minutes 3 eggs", "tomorrow at nine 3 eggs"] {
        assert!(matches!(asked("eng", ask), AskedTime::Time(_)), "{ask}");
    }
}

#[test]
fn the_language_that_reads_more_of_the_time_counts() {
    let local = |code, ask| match asked(code, ask) {
        AskedTime::Time(time) => {
            Zone::parse("Europe/Berlin").expect("a zone").local(time.at).format("%m-%d %H:%M").to_string()
        }
        other => format!("{other:?}"),
    };
    for code in ["eng", "ukr", "rus"] {
        for (ask, time) in [
            ("завтра о 10:00 квитки", "05-16 10:00"),
            ("завтра об 11 квитки", "05-16 11:00"),
            ("завтра о 17 квитки", "05-16 17:00"),
            ("завтра о десятій квитки", "05-16 10:00"),
            ("нагадай завтра о 10 забрати кабель", "05-16 10:00"),
            ("завтра в 10 билеты", "05-16 10:00"),
        ] {
            assert_eq!(local(code, ask), time, "{code}: {ask}");
        }
    }
    assert_eq!(local("eng", "morgen um neun: Holz bestellen"), "05-16 09:00");
    assert_eq!(local("eng", "morgen um halb elf: Holz bestellen"), "05-16 10:30");
    assert_eq!(local("eng", "recorda-me amanhã às 10 de reservar"), "05-16 10:00");
    assert!(Languages::shipped().reminder_prefix_len("recorda-me amanhã às 10 de reservar").is_some());
}

#[test]
fn the_time_is_no_part_of_the_task() {
    let task = |ask| {
        let (now, zone) = (Timestamp::from_secs(1_715_760_000), Zone::UTC);
        reminder_task(ask, Language::from_code("eng"), now, zone)
    };
    for (ask, words) in [
        ("in 1 minute tea", "tea"),
        ("tomorrow at nine: order the wood", "order the wood"),
        ("samstag 18 uhr wein kaufen", "wein kaufen"),
        ("завтра о 10:00 квитки", "квитки"),
        ("every monday 9:00 until 1 June water the plants", "water the plants"),
        ("yarın saat 9'da forma", "forma"),
        ("order the wood tomorrow", "order the wood tomorrow"),
        ("tomorrow", "tomorrow"),
        ("remind us on friday at nine to order the wood", "remind us on friday at nine to order the wood"),
    ] {
        assert_eq!(task(ask), words);
    }
}

#[test]
fn a_date_that_no_calendar_has_is_no_other_day() {
    let asks: [(&str, &[&str]); 12] = [
        (
            "eng",
            &[
                "remind me on february 31 at 9 to pay",
                "remind me on 31 June at 9",
                "remind me on the 32nd of may at noon",
                "remind me to pay on 30 February at 9",
                "remind me on 31/6 at 9",
                "remind me on 2026-02-31 at 9:00",
                "remind me on 2026-05-32 at 9:00",
                "remind me on 29 February 2027",
                "remind us every monday 9:00 until 31 June",
            ],
        ),
        (
            "deu",
            &[
                "erinnere mich am 31. Februar um 9 ans Holz",
                "erinnere mich am 31.2. um 9",
                "erinnere mich am 32.5. um 9",
                "erinnere mich am 31.02.2027",
            ],
        ),
        ("spa", &["recuérdame el 31/6 a las 9 pagar", "recuérdame el 31 de abril a las 9", "recuérdame el 32 de mayo"]),
        ("fra", &["rappelle-moi le 31 février à 9h dentiste", "rappelle-moi de payer le 31 avril à 9h"]),
        ("ita", &["ricordami il 30 febbraio alle 9 di pagare", "ricordami il 31 aprile"]),
        ("por", &["me lembra dia 31 de fevereiro às 9 test", "me lembra no dia 31 de abril às 9"]),
        ("nld", &["herinner me op 31 februari om 9:00", "herinner me 31 april"]),
        ("pol", &["przypomnij mi 31 lutego o 9:00", "przypomnij mi 31 kwietnia"]),
        ("rus", &["напомни мне 31 февраля в 9:00", "напомни 31 апреля"]),
        ("ukr", &["нагадай мені 31 лютого о 9:00", "нагадай 31 квітня"]),
        ("tur", &["31 şubat saat 9:00 bana hatırlat", "31 nisan günü hatırlat"]),
        ("est", &["tuleta mulle 31. veebruaril kell 9:00 meelde", "tuleta mulle 31. aprillil meelde"]),
    ];
    // In a chat of the same language, and, where a sentence shows its language, in an English one.
    let read_in = |code: &str, asks: &[&str]| {
        let found = asks.iter().map(|ask| (*ask, read(code, ask))).filter(|(_, read)| read != "unreadable");
        found.map(|(ask, read)| format!("{code} {ask}: {read}")).collect::<Vec<_>>()
    };
    let shown = |code: &str| !["ita", "pol", "rus", "ukr", "tur"].contains(&code);
    let in_english = |code: &str, asks: &[&str]| if shown(code) { read_in("eng", asks) } else { Vec::new() };
    let wrong: Vec<String> =
        asks.iter().flat_map(|(code, asks)| [read_in(code, asks), in_english(code, asks)].concat()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    check(
        "eng",
        &[("remind me on 29 February", "02-29 09:00"), ("remind me to get 31.2 l of milk tomorrow", "05-16 09:00")],
    );
}

#[test]
fn a_part_of_the_day_tells_the_half_of_the_day() {
    check(
        "eng",
        &[
            ("remind me tomorrow evening at 8:30", "05-16 20:30"),
            ("remind me tomorrow afternoon at 2:30", "05-16 14:30"),
            ("remind me tomorrow morning at 8:30", "05-16 08:30"),
            ("remind us every evening at 8:30 to lock the shed", "05-15 20:30 daily"),
            ("remind me this evening at 7:15", "05-15 19:15"),
            ("remind me tonight at 9:30", "05-15 21:30"),
            ("remind me at 9:30 tonight", "05-15 21:30"),
            ("remind me tonight at 21:30", "05-15 21:30"),
        ],
    );
    for (code, ask, time) in [
        ("deu", "erinnere mich morgen Abend um 8:30 Uhr", "05-16 20:30"),
        ("fra", "rappelle-moi demain soir à 8h", "05-16 20:00"),
        ("fra", "rappelle-moi demain après-midi à 3h", "05-16 15:00"),
        ("spa", "recuérdame mañana por la tarde a las 5:30", "05-16 17:30"),
        ("ita", "ricordami domani sera alle 8:30", "05-16 20:30"),
        ("ita", "ricordami domani alle 8 di sera", "05-16 20:00"),
        ("por", "me lembre amanhã à noite às 8h", "05-16 20:00"),
        ("nld", "herinner me morgenavond om 8:30", "05-16 20:30"),
        ("pol", "przypomnij mi jutro wieczorem o 8:30", "05-16 20:30"),
        ("rus", "напомни завтра вечером в 8:30", "05-16 20:30"),
        ("ukr", "нагадай завтра ввечері о 8:30", "05-16 20:30"),
        ("tur", "yarın akşam saat 8:30'da hatırlat", "05-16 20:30"),
        ("est", "tuleta mulle homme õhtul kell 8:30 meelde", "05-16 20:30"),
    ] {
        check(code, &[(ask, time)]);
    }
}

#[test]
fn hours_of_the_night_are_told_from_those_of_the_day() {
    check(
        "eng",
        &[
            ("remind me at midnight", "05-16 00:00"),
            ("remind me tonight at midnight to take the pill", "05-16 00:00"),
            ("remind me tonight at 12", "05-16 00:00"),
            ("remind me tonight at 1", "05-16 01:00"),
            ("remind me tomorrow night at 11", "05-16 23:00"),
            ("remind me monday night at 9", "05-20 21:00"),
            ("remind me at 11 at night", "05-15 23:00"),
            ("remind me at 3 in the night", "05-16 03:00"),
            ("remind me every night at 11 to lock up", "05-15 23:00 daily"),
            ("remind me every night to lock up", "05-15 21:00 daily"),
            // In the night before that day or after it.
            ("remind me tomorrow at midnight", "unreadable"),
            ("remind me tomorrow night at 1", "unreadable"),
            ("remind me every friday at midnight", "unreadable"),
        ],
    );
    for (code, ask, time) in [
        ("deu", "erinnere mich um 3 Uhr nachts", "05-16 03:00"),
        ("deu", "erinnere mich heute Nacht um 2", "05-16 02:00"),
        ("deu", "erinnere mich heute um Mitternacht", "05-16 00:00"),
        ("spa", "recuérdame a las 3 de la madrugada", "05-16 03:00"),
        ("ita", "ricordami alle 3 di notte", "05-16 03:00"),
        ("nld", "herinner me om 3 uur 's nachts", "05-16 03:00"),
        ("pol", "przypomnij mi o 3 w nocy", "05-16 03:00"),
        ("rus", "напомни завтра в 3 часа ночи", "05-16 03:00"),
        ("rus", "напомни завтра в 12 ночи", "unreadable"),
        ("ukr", "нагадай о 3 ночі", "05-16 03:00"),
        ("est", "tuleta mulle kell 3 öösel meelde", "05-16 03:00"),
        ("por", "me lembre à meia-noite", "05-16 00:00"),
        ("tur", "gece yarısı hatırlat", "05-16 00:00"),
        ("ita", "ricordami domani a mezzogiorno", "05-16 12:00"),
        ("spa", "recuérdame mañana al mediodía", "05-16 12:00"),
        ("por", "me lembre amanhã ao meio-dia", "05-16 12:00"),
        ("fra", "rappelle-moi à midi et demi", "05-15 12:30"),
    ] {
        check(code, &[(ask, time)]);
    }
}

#[test]
fn an_hour_may_follow_a_part_of_the_day_directly() {
    check(
        "tur",
        &[
            ("yarın sabah 7'de hatırlat", "05-16 07:00"),
            ("her sabah 7'de ilaç almayı hatırlat", "05-16 07:00 daily"),
            ("yarın akşam 9'da hatırlat", "05-16 21:00"),
            ("gece 3'te hatırlat", "05-16 03:00"),
            ("her gece 11'de hatırlat", "05-15 23:00 daily"),
            ("yarın 8'de hatırlat", "05-16 08:00"),
            ("her pazartesi 9'da hatırlat", "05-20 09:00 Mon"),
        ],
    );
    check(
        "eng",
        &[
            ("remind me tonight 9", "05-15 21:00"),
            ("remind me tomorrow evening 9: tea", "05-16 21:00"),
            ("remind me tonight 9 eggs", "unreadable"),
            ("remind me tomorrow two eggs", "unreadable"),
            ("remind me tomorrow a cake", "05-16 09:00"),
        ],
    );
    check("deu", &[("erinnere mich heute Abend 8", "05-15 20:00"), ("erinnere mich heute Abend 8 Eier", "unreadable")]);
}

#[test]
fn quarters_and_years_are_spans() {
    for (code, ask, time) in [
        ("eng", "remind me in a quarter of an hour", "05-15 10:15"),
        ("eng", "remind me in an hour and a quarter", "05-15 11:15"),
        ("eng", "remind me in three quarters of an hour", "05-15 10:45"),
        ("eng", "remind me in a year", "05-15 09:00"),
        ("deu", "erinnere mich in einer Viertelstunde", "05-15 10:15"),
        ("deu", "erinnere mich in einer dreiviertel Stunde", "05-15 10:45"),
        ("fra", "rappelle-moi dans un quart d'heure", "05-15 10:15"),
        ("spa", "recuérdame en un cuarto de hora", "05-15 10:15"),
        ("ita", "ricordami tra un quarto d'ora", "05-15 10:15"),
        ("por", "me lembre em um quarto de hora", "05-15 10:15"),
        ("nld", "herinner me over een kwartier", "05-15 10:15"),
        ("pol", "przypomnij mi za kwadrans", "05-15 10:15"),
        ("rus", "напомни через четверть часа", "05-15 10:15"),
        ("rus", "напомни через год", "05-15 09:00"),
        ("ukr", "нагадай через чверть години", "05-15 10:15"),
        ("tur", "çeyrek saat sonra hatırlat", "05-15 10:15"),
        ("est", "tuleta mulle veerand tunni pärast meelde", "05-15 10:15"),
        ("est", "tuleta mulle pooleteise tunni pärast meelde", "05-15 11:30"),
        ("deu", "erinnere mich um fünf vor halb neun", "05-16 08:25"),
        ("nld", "herinner me om tien over half negen", "05-16 08:40"),
        ("por", "me lembre às dez para as oito", "05-16 07:50"),
    ] {
        check(code, &[(ask, time)]);
    }
}

#[test]
fn two_words_for_a_day_name_it_together() {
    check(
        "eng",
        &[
            ("remind me next week on friday", "05-24 09:00"),
            ("remind me friday next week at 10", "05-24 10:00"),
            ("remind me next week", "05-22 09:00"),
            ("remind me in two weeks on friday", "05-31 09:00"),
            // The week after next, or two weeks after monday.
            ("remind me in two weeks on monday", "unreadable"),
            ("remind me a week from today", "05-22 09:00"),
            ("remind me a week from tomorrow", "unreadable"),
            ("remind me on friday, 24 May", "05-24 09:00"),
            ("remind me on friday, 25 May", "unreadable"),
            ("remind me on tuesday the 21st at 6pm", "05-21 18:00"),
            ("remind me on friday the 13th", "unreadable"),
            ("remind me the friday after next", "unreadable"),
            ("remind me on the second tuesday of december", "unreadable"),
            ("remind me on the first tuesday of december", "unreadable"),
            ("remind me next month on the 20th", "unreadable"),
        ],
    );
    for (code, ask, time) in [
        ("deu", "erinnere mich nächste Woche Freitag um 10", "05-24 10:00"),
        ("deu", "erinnere mich Freitag in einer Woche", "05-24 09:00"),
        ("deu", "erinnere mich heute in einer Woche", "05-22 09:00"),
        ("deu", "erinnere mich morgen in einer Woche", "05-23 09:00"),
        ("deu", "erinnere mich übernächsten Freitag", "unreadable"),
        ("fra", "rappelle-moi la semaine prochaine mardi", "05-21 09:00"),
        ("spa", "recuérdame la próxima semana el martes", "05-21 09:00"),
        ("ita", "ricordami la prossima settimana martedì", "05-21 09:00"),
        ("por", "me lembre na próxima semana na terça", "05-21 09:00"),
        ("nld", "herinner me volgende week vrijdag", "05-24 09:00"),
        ("nld", "herinner me dinsdag de 21e", "05-21 09:00"),
        ("nld", "herinner me de 28e om 18:00", "05-28 18:00"),
        ("pol", "przypomnij mi w przyszłym tygodniu w piątek", "05-24 09:00"),
        ("rus", "напомни на следующей неделе в пятницу", "05-24 09:00"),
        ("rus", "напомни в пятницу через неделю", "05-24 09:00"),
        ("ukr", "нагадай наступного тижня у п'ятницю", "05-24 09:00"),
        ("tur", "gelecek hafta cuma günü hatırlat", "05-24 09:00"),
        ("est", "tuleta mulle järgmisel nädalal reedel meelde", "05-24 09:00"),
        ("deu", "erinnere mich jeden Sonnabend um 9", "05-18 09:00 Sat"),
        ("deu", "erinnere mich am Sonnabend", "05-18 09:00"),
        ("deu", "erinnere mich am Sonnabendabend", "05-18 19:00"),
    ] {
        check(code, &[(ask, time)]);
    }
}

#[test]
fn a_time_that_goes_on_is_refused() {
    for (code, ask, expected) in [
        ("eng", "remind us every monday until christmas", "unsupported"),
        ("eng", "remind us every monday until the end of the year", "unsupported"),
        ("eng", "remind me every day for a week", "unsupported"),
        ("eng", "remind me every day at 9 for 5 days", "unsupported"),
        ("eng", "remind me every day at 9 and 18", "unsupported"),
        ("eng", "remind me tomorrow at 9 and 18", "unsupported"),
        ("eng", "remind us monday to friday at 9", "unsupported"),
        ("eng", "remind us mon-fri at 9", "unreadable"),
        ("eng", "remind us mon wed fri at 9", "unreadable"),
        ("eng", "remind us every day except sunday", "unreadable"),
        ("eng", "remind me half an hour before the meeting at 5pm", "unreadable"),
        ("eng", "remind me 20 minutes before 6pm", "unreadable"),
        ("eng", "remind me on new year's eve at 11pm", "unreadable"),
        ("eng", "remind me tomorrow at half six", "unreadable"),
        ("eng", "remind me tomorrow at 9 friday", "unreadable"),
        ("eng", "remind me in one hour twenty", "unreadable"),
        ("eng", "remind me in an hour and fifteen", "unsupported"),
        ("eng", "remind me before friday", "unreadable"),
        ("eng", "remind me between 5pm and 6pm", "unreadable"),
        ("tur", "18:00'den 10 dakika önce hatırlat", "unreadable"),
        ("pol", "przypomnij mi za kwadrans ósma", "05-16 07:45"),
        ("deu", "erinnere uns von Montag bis Freitag um 9", "unsupported"),
        ("deu", "erinnere mich an Heiligabend um 15 Uhr", "unreadable"),
        ("spa", "recuérdanos de lunes a viernes a las 9", "unsupported"),
        ("por", "nos lembre de segunda a sexta às 9h", "unsupported"),
        ("ita", "ricordaci dal lunedì al venerdì alle 9", "unsupported"),
        ("rus", "напоминай с понедельника по пятницу в 9", "unsupported"),
        ("ukr", "нагадуй з понеділка по п'ятницю о 9", "unsupported"),
        ("ukr", "нагадай за 10 хвилин до 18:00", "unreadable"),
        ("rus", "напомни за 10 минут до 18:00", "unreadable"),
        ("rus", "напомни восьмого декабря в 18:00", "unreadable"),
        ("rus", "напомни завтра в полдевятого", "unreadable"),
        ("est", "tuleta mulle kell kümme minutit kaheksa läbi meelde", "unreadable"),
        ("nld", "herinner ons elke maandag t/m 20 december", "05-20 09:00 Mon until 12-21"),
        ("por", "me lembre todas as noites às 22h", "05-15 22:00 daily"),
        ("por", "me lembre toda manhã às 7", "05-16 07:00 daily"),
        ("ukr", "нагадуй щоночі о 23:00", "05-15 23:00 daily"),
        ("est", "tuleta mulle hommikuti kell 7 meelde", "05-16 07:00 daily"),
        ("nld", "herinner me 31-12-2026 om 20:00", "12-31 20:00"),
        ("nld", "herinner me 8-12 om 18:00", "12-08 18:00"),
        ("eng", "remind me on 2024/12/13 at 9", "12-13 09:00"),
    ] {
        check(code, &[(ask, expected)]);
    }
}

#[test]
fn zones_are_converted_or_refused() {
    check(
        "eng",
        &[
            ("remind me tomorrow at 10:00 UTC to call", "05-16 12:00"),
            ("remind me tomorrow at 10:00 GMT+1 to call", "05-16 11:00"),
            ("remind me tomorrow at 10:00 Europe/London", "05-16 11:00"),
            ("remind me tomorrow at 9am EST", "unreadable"),
            ("remind me at 10pm London time", "unreadable"),
            ("remind us every day at 10:00 UTC", "unreadable"),
            ("remind me tomorrow at 9 to read the UTC logs", "05-16 09:00"),
        ],
    );
}

#[test]
fn a_span_directly_behind_the_command_begins_now() {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    let read = |code, ask| match asked(code, ask) {
        AskedTime::Time(time) => zone.local(time.at).format("%m-%d %H:%M").to_string(),
        other => format!("{other:?}"),
    };
    for (code, ask, time) in [
        ("eng", "2h tea", "05-15 12:00"),
        ("eng", "1h30 tea", "05-15 11:30"),
        ("eng", "10m", "05-15 10:10"),
        ("eng", "5 min tea", "05-15 10:05"),
        ("eng", "3 days tea", "05-18 09:00"),
        ("eng", "me 2 hours tea", "05-15 12:00"),
        ("eng", "10 Minuten Tee", "05-15 10:10"),
        ("deu", "2h Tee", "05-15 12:00"),
        ("fra", "14h thé", "05-15 14:00"),
        ("fra", "14 heures thé", "05-15 14:00"),
        ("por", "14h chá", "05-15 14:00"),
        ("eng", "20 minutes before 6pm", "Unreadable"),
        ("eng", "2 pizzas", "None"),
    ] {
        assert_eq!(read(code, ask), time, "{ask}");
    }
}

#[test]
fn polite_requests_and_those_with_the_time_first_are_read() {
    for (code, asks) in [
        (
            "eng",
            vec![
                "can you please remind me tomorrow at 9?",
                "could you please remind us tomorrow at 9",
                "can u pls remind me tomorrow at 9",
                "tomorrow at 9 remind me to call",
                "could you set a reminder for tomorrow at 9",
                "create a reminder for tomorrow at 9",
            ],
        ),
        (
            "deu",
            vec![
                "kannst du mich morgen um 9 daran erinnern, Mama anzurufen?",
                "kannst du mich bitte morgen um 9 daran erinnern dass der Müll rausmuss",
                "erinnerst du mich morgen um 9?",
                "morgen um 9 erinnere mich bitte",
            ],
        ),
        ("fra", vec!["s'il te plaît rappelle-moi demain à 9h", "peux-tu s'il te plaît me rappeler demain à 9h ?"]),
        ("spa", vec!["por favor recuérdame mañana a las 9", "¿podrías recordarme mañana a las 9?"]),
        (
            "ita",
            vec!["per favore ricordami domani alle 9", "mi puoi ricordare domani alle 9", "domani alle 9 ricordami"],
        ),
        ("por", vec!["poderia me lembrar amanhã às 9h"]),
        ("nld", vec!["zou je me morgen om 9 kunnen herinneren", "morgen om 9 herinner me aan de melk"]),
        ("pol", vec!["czy mógłbyś mi przypomnieć jutro o 9"]),
        (
            "rus",
            vec!["можешь пожалуйста напомнить завтра в 9", "завтра в 9 напомни мне", "мог бы ты напомнить завтра в 9"],
        ),
        ("ukr", vec!["будь ласка, нагадай завтра о 9", "завтра о 9 нагадай мені"]),
        ("est", vec!["kas saad mulle homme kell 9 meelde tuletada?"]),
    ] {
        for ask in asks {
            check(code, &[(ask, "05-16 09:00")]);
        }
    }
    for (code, ask) in [
        ("eng", "do you have a reminder for friday?"),
        ("eng", "on friday remind me what we decided"),
        ("eng", "did somebody remind me on friday?"),
        ("eng", "give me the summary of friday, it reminds me of summer"),
        ("deu", "kannst du dich daran erinnern, dass wir am Freitag grillen?"),
        ("deu", "kannst du dich daran erinnern, was wir am Freitag beschlossen haben?"),
        ("fra", "est-ce que tu me rappelles pourquoi on part demain ?"),
        ("rus", "кто должен был мне напомнить завтра?"),
    ] {
        check(code, &[(ask, "")]);
    }
}

#[test]
fn only_the_beginning_and_the_end_of_a_long_text_are_read() {
    let filler = "the wood and the boat ".repeat(60);
    assert_eq!(read("eng", &format!("remind me on friday at nine {filler}")), "05-17 09:00");
    assert_eq!(read("eng", &format!("remind me to order {filler} on friday at nine")), "05-17 09:00");
    assert_eq!(read("eng", &format!("remind me to order {filler} on friday at nine {filler}")), "");
    let (now, zone) = (Timestamp::from_secs(1_715_760_000), Zone::UTC);
    for word in ["a ", "1h ", "half past ", "monday\n", "日"] {
        let text = word.repeat(2000);
        let request = ReminderRequest::strict(&text, Language::DEFAULT, now, zone);
        let counts = (request.words.len(), request.token_ends.len());
        assert_eq!(counts, (FIRST_WORDS + 1 + LAST_WORDS, FIRST_WORDS + 1 + LAST_WORDS), "{word}");
        assert_eq!(time_alone(&text, Language::DEFAULT, now, zone), AskedTime::None, "{word}");
        assert!(text.ends_with(reminder_task(&text, Language::DEFAULT, now, zone)), "{word}");
    }
}

/// Times that members of chats in languages without a file wrote: each is set as it is meant or refused.
#[test]
fn nothing_else_is_set_in_languages_without_a_file() {
    let zone = Zone::UTC;
    // Sunday, 29 November 2026, 08:00.
    let now = Timestamp::from_secs(1_795_939_200);
    let asks: [(&str, &[(&str, &str)]); 13] = [
        (
            "pes",
            &[
                ("فردا ساعت ۹ زنگ به تعمیرکار", "11-30 09:00"),
                ("فردا ساعت ۳ بعد از ظهر زنگ", "11-30 15:00"),
                ("فردا ساعت ۸ شب زنگ", "11-30 20:00"),
                ("دوشنبه ساعت ۱۰ جلسه", "11-30 10:00"),
                ("۲۰ دقیقه دیگه فر رو خاموش کن", "11-29 08:20"),
                ("۲۵ دسامبر ساعت ۱۸:۰۰ مهمونی", "12-25 18:00"),
                ("هر دوشنبه ساعت ۹ جلسه", "11-30 09:00 Mon"),
                ("پس‌فردا ۱۰:۳۰ دکتر", "12-01 10:30"),
                ("فردا ۳ تا نون بخر", "refused"),
                ("فردا ساعت هشت شب شام", "11-30 20:00"),
                ("فردا صبح جلسه", "11-30 09:00"),
                ("فردا جلسه با سارا", "11-30 09:00"),
            ],
        ),
        (
            "ara",
            &[
                ("غدا الساعة ٩ اتصل بالفني", "11-30 09:00"),
                ("بكرة الساعة ٣ العصر اجتماع", "11-30 15:00"),
                ("غدا الساعة ٨ مساء عشاء", "11-30 20:00"),
                ("الاثنين الساعة ١٠ اجتماع", "11-30 10:00"),
                ("بعد ٢٠ دقيقة اطفي الفرن", "11-29 08:20"),
                ("٢٥ ديسمبر الساعة ١٨:٠٠ حفلة", "12-25 18:00"),
                ("كل يوم اثنين الساعة ٩", "11-30 09:00 Mon"),
                ("بعد غد الساعة ١٠:٣٠ دكتور", "12-01 10:30"),
                ("غدا ٣ خبزات", "refused"),
                ("غدا الساعة الثامنة مساء", "refused"),
                ("غدا اجتماع", "11-30 09:00"),
            ],
        ),
        (
            "hin",
            &[
                ("कल सुबह 9 बजे फोन करना", "11-30 09:00"),
                ("कल शाम 5 बजे फोन करना", "11-30 17:00"),
                ("कल रात ८ बजे खाना", "11-30 20:00"),
                ("सोमवार को 10 बजे मीटिंग", "11-30 10:00"),
                ("20 मिनट बाद गैस बंद करना", "11-29 08:20"),
                ("25 दिसंबर को 18:00 पार्टी", "12-25 18:00"),
                ("हर सोमवार 9 बजे मीटिंग", "11-30 09:00 Mon"),
                ("kal subah 9 baje call karna", "refused"),
                ("परसों 10:30 डॉक्टर", "12-01 10:30"),
                ("कल साढ़े आठ बजे", "refused"),
                ("आज रात 8 बजे खाना", "11-29 20:00"),
            ],
        ),
        (
            "cmn",
            &[
                ("明天9点打电话", "11-30 09:00"),
                ("明天下午3点开会", "11-30 15:00"),
                ("明晚8点吃饭", "11-30 20:00"),
                ("周一10点开会", "11-30 10:00"),
                ("20分钟后关火", "11-29 08:20"),
                ("12月25日18:00聚会", "12-25 18:00"),
                ("每周一9点开会", "11-30 09:00 Mon"),
                ("明天上午九点半开会", "11-30 09:30"),
                ("后天10:30看医生", "12-01 10:30"),
                ("下周三下午两点 密室", "refused"),
                ("明天十一点开会", "refused"),
                ("明天晚上八点半吃饭", "11-30 20:30"),
                ("明天开会", "11-30 09:00"),
            ],
        ),
        (
            "jpn",
            &[
                ("明日9時に電話", "11-30 09:00"),
                ("明日午後3時に会議", "11-30 15:00"),
                ("明日の夜8時にごはん", "11-30 20:00"),
                ("月曜10時に会議", "11-30 10:00"),
                ("20分後に火を消す", "11-29 08:20"),
                ("12月25日18:00パーティー", "12-25 18:00"),
                ("毎週月曜9時に会議", "11-30 09:00 Mon"),
                ("明後日10:30病院", "12-01 10:30"),
                ("明日の朝９時半に電話", "11-30 09:30"),
                ("来週の月曜9時", "refused"),
                ("明日9時10分前", "refused"),
            ],
        ),
        (
            "kor",
            &[
                ("내일 9시에 전화하기", "11-30 09:00"),
                ("내일 오후 3시 회의", "11-30 15:00"),
                ("내일 저녁 8시 밥", "11-30 20:00"),
                ("월요일 10시 회의", "11-30 10:00"),
                ("20분 후에 불 끄기", "11-29 08:20"),
                ("12월 25일 18:00 파티", "12-25 18:00"),
                ("매주 월요일 9시 회의", "11-30 09:00 Mon"),
                ("모레 10:30 병원", "12-01 10:30"),
                ("내일 아침 아홉시 전화", "refused"),
                ("내일 여덟시 전화", "refused"),
            ],
        ),
        (
            "ind",
            &[
                ("besok jam 9 telpon tukang", "11-30 09:00"),
                ("besok jam 3 sore rapat", "11-30 15:00"),
                ("besok jam 8 malam makan", "11-30 20:00"),
                ("senin jam 10 rapat", "11-30 10:00"),
                ("20 menit lagi matikan kompor", "11-29 08:20"),
                ("25 desember jam 18.00 pesta", "12-25 18:00"),
                ("setiap senin jam 9 rapat", "11-30 09:00 Mon"),
                ("lusa jam 10.30 dokter", "12-01 10:30"),
                ("besok 3 telur", "refused"),
                ("besok jam setengah 9 rapat", "11-30 08:30"),
                ("besok rapat", "11-30 09:00"),
            ],
        ),
        (
            "ell",
            &[
                ("αύριο στις 9 τηλέφωνο", "11-30 09:00"),
                ("αύριο στις 3 το απόγευμα ραντεβού", "11-30 15:00"),
                ("αύριο 8 το βράδυ φαγητό", "11-30 20:00"),
                ("Δευτέρα στις 10 ραντεβού", "11-30 10:00"),
                ("σε 20 λεπτά σβήσε το φούρνο", "11-29 08:20"),
                ("25 Δεκεμβρίου στις 18:00 πάρτι", "12-25 18:00"),
                ("κάθε Δευτέρα στις 9 ραντεβού", "11-30 09:00 Mon"),
                ("μεθαύριο 10:30 γιατρός", "12-01 10:30"),
                ("αύριο στις οκτώ το βράδυ", "11-30 20:00"),
                ("αύριο στις 9 παρά τέταρτο", "refused"),
            ],
        ),
        (
            "ces",
            &[
                ("zítra v 9 zavolat", "11-30 09:00"),
                ("zítra ve 3 odpoledne schůzka", "11-30 15:00"),
                ("zítra v 8 večer jídlo", "11-30 20:00"),
                ("v pondělí v 10 schůzka", "11-30 10:00"),
                ("za 20 minut vypnout troubu", "11-29 08:20"),
                ("25. prosince v 18:00 party", "12-25 18:00"),
                ("každé pondělí v 9 schůzka", "11-30 09:00 Mon"),
                ("pozítří v 10:30 doktor", "12-01 10:30"),
                ("zitra v 9 zavolat", "refused"),
                ("zítra v osm večer jídlo", "11-30 20:00"),
                ("zítra večer v osm jídlo", "11-30 20:00"),
                ("zítra o půl deváté", "refused"),
                ("zítra vecer jídlo", "refused"),
                ("zítra schůzka", "11-30 09:00"),
                ("zítra: 3 rohlíky", "11-30 09:00"),
            ],
        ),
        (
            "vie",
            &[
                ("ngày mai 9 giờ gọi thợ", "11-30 09:00"),
                ("ngày mai 3 giờ chiều họp", "11-30 15:00"),
                ("mai 8h tối ăn", "11-30 20:00"),
                ("thứ hai 10 giờ họp", "11-30 10:00"),
                ("20 phút nữa tắt bếp", "11-29 08:20"),
                ("25 tháng 12 lúc 18:00 tiệc", "12-25 18:00"),
                ("mỗi thứ hai 9 giờ họp", "11-30 09:00 Mon"),
                ("ngày kia 10:30 bác sĩ", "12-01 10:30"),
                ("ngay mai 9 gio goi tho", "refused"),
                ("8 giờ tối mai ăn", "11-30 20:00"),
                ("mai 9 giờ kém 15", "refused"),
            ],
        ),
        (
            "tha",
            &[
                ("พรุ่งนี้ 9 โมงโทรหาช่าง", "11-30 09:00"),
                ("พรุ่งนี้บ่าย 3 ประชุม", "refused"),
                ("พรุ่งนี้ 2 ทุ่มกินข้าว", "refused"),
                ("วันจันทร์ 10 โมงประชุม", "11-30 10:00"),
                ("อีก 20 นาทีปิดเตา", "11-29 08:20"),
                ("25 ธันวาคม 18:00 ปาร์ตี้", "12-25 18:00"),
                ("ทุกวันจันทร์ 9 โมงประชุม", "11-30 09:00 Mon"),
                ("มะรืน 10:30 หมอ", "12-01 10:30"),
                ("พรุ่งนี้ ๙:๐๐ โทร", "11-30 09:00"),
                ("พรุ่งนี้ 9 โมงเช้า", "refused"),
            ],
        ),
        (
            "heb",
            &[
                ("מחר בתשע להתקשר", "refused"),
                ("מחר ב-3 אחר הצהריים פגישה", "11-30 15:00"),
                ("מחר ב-8 בערב ארוחה", "11-30 20:00"),
                ("ביום שני ב-10 פגישה", "11-30 10:00"),
                ("בעוד 20 דקות לכבות תנור", "11-29 08:20"),
                ("25 בדצמבר ב-18:00 מסיבה", "12-25 18:00"),
                ("כל יום שני ב-9 פגישה", "11-30 09:00 Mon"),
                ("מחרתיים 10:30 רופא", "12-01 10:30"),
                ("מחר 9:00 להתקשר", "11-30 09:00"),
                ("מחר בערב בשמונה", "refused"),
            ],
        ),
        (
            "swe",
            &[
                ("i morgon", "11-30 09:00"),
                ("i morgon: ring Anna", "11-30 09:00"),
                ("i morgon 18:30 ring Anna", "11-30 18:30"),
                ("i morgon klockan nio ring Anna", "refused"),
                ("i morgon kväll ring Anna", "refused"),
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (code, asks) in asks {
        for (ask, meant) in asks {
            let set = match reminder_time(ask, Language::from_code(code), now, zone) {
                AskedTime::Time(ReminderTime { at, repeat, .. }) => {
                    let weekday =
                        if let Some(Repeat::Weekly(day)) = repeat { format!(" {day}") } else { String::new() };
                    zone.local(at).format("%m-%d %H:%M").to_string() + &weekday
                }
                _ => "refused".to_owned(),
            };
            if set != *meant {
                wrong.push(format!("{code} {ask}: {set}, not {meant}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_word_such_as_weekly_or_night_belongs_to_the_task_behind_a_time() {
    let (now, zone) = (Timestamp::from_secs(1_715_760_000), Zone::parse("Europe/Berlin").expect("a zone"));
    let read = |code: &str, ask: &str| {
        let language = Language::from_code(code);
        let at = match reminder_time(ask, language, now, zone) {
            AskedTime::Time(time) => {
                let repeat = time.repeat.map_or_else(String::new, |repeat| format!(" {repeat:?}"));
                format!("{}{repeat}", zone.local(time.at).format("%m-%d %H:%M"))
            }
            other => format!("{other:?}"),
        };
        format!("{at}: {}", reminder_task(ask, language, now, zone))
    };
    for (code, ask, expected) in [
        ("eng", "friday 18:00 weekly shopping", "05-17 18:00: weekly shopping"),
        ("eng", "tomorrow monthly report", "05-16 09:00: monthly report"),
        ("eng", "on friday at 6pm quarterly report for Ben", "05-17 18:00: quarterly report for Ben"),
        ("tur", "cuma 18:00 haftalık alışveriş", "05-17 18:00: haftalık alışveriş"),
        ("eng", "every friday 18:00 shopping", "05-17 18:00 Weekly(Fri): shopping"),
        ("eng", "every friday 18:00 weekly shopping", "05-17 18:00 Weekly(Fri): weekly shopping"),
        ("eng", "tomorrow at 22:00 night watch", "05-16 22:00: night watch"),
        ("eng", "tomorrow at 9 pm night watch", "05-16 21:00: night watch"),
        ("eng", "tomorrow at 9:00 morning run with Ben", "05-16 09:00: morning run with Ben"),
        ("eng", "tomorrow at 20:00 night at the museum", "05-16 20:00: night at the museum"),
        ("eng", "every day at 7:00 evening dress to the cleaner", "05-16 07:00 Daily: evening dress to the cleaner"),
        ("deu", "morgen um 20:00 Abend mit Ben", "05-16 20:00: Abend mit Ben"),
        ("deu", "morgen um 15:00 Nachmittagskaffee", "05-16 15:00: Nachmittagskaffee"),
        ("spa", "mañana a las 20:00 noche de juegos", "05-16 20:00: noche de juegos"),
        ("fra", "demain à 22:00 nuit de garde", "05-16 22:00: nuit de garde"),
        ("ita", "domani alle 20:00 notte di giochi", "05-16 20:00: notte di giochi"),
        ("nld", "morgen om 19:00 avond met Ben", "05-16 19:00: avond met Ben"),
        ("pol", "jutro o 19:00 wieczór gier", "05-16 19:00: wieczór gier"),
        ("por", "amanhã às 20:00 noite de jogos", "05-16 20:00: noite de jogos"),
        ("rus", "завтра в 19:00 вечер игр", "05-16 19:00: вечер игр"),
        ("tur", "yarın 19:00 akşam yemeği", "05-16 19:00: akşam yemeği"),
        ("ukr", "завтра о 22:00 ніч музеїв", "05-16 22:00: ніч музеїв"),
        ("est", "homme kell 22:00 öö valve", "05-16 22:00: öö valve"),
        // These are parts of the day.
        ("eng", "tomorrow at 9:00 in the evening call Ben", "05-16 21:00: call Ben"),
        ("eng", "tomorrow at 7:30 evening to call Ben", "05-16 19:30: to call Ben"),
        ("eng", "tomorrow at 7:30 evening, call Ben", "05-16 19:30: call Ben"),
        ("eng", "tomorrow at 7:30 evening: call Ben", "05-16 19:30: call Ben"),
        ("eng", "tomorrow at 7 evening run", "05-16 19:00: run"),
        ("deu", "morgen um 9 uhr abends Ben anrufen", "05-16 21:00: Ben anrufen"),
        ("rus", "завтра в 9:00 вечера позвонить", "05-16 21:00: позвонить"),
        ("pol", "jutro o 9:00 wieczorem zadzwonić", "05-16 21:00: zadzwonić"),
        // These may be repetitions.
        ("eng", "friday 18:00 weekly", "Unsupported: friday 18:00 weekly"),
        ("eng", "weekly friday 18:00 shopping", "Unsupported: shopping"),
        ("eng", "friday weekly at 18:00 shopping", "Unsupported: shopping"),
        ("eng", "friday 18:00 weekly: shopping", "Unsupported: shopping"),
        ("eng", "18:00 weekly shopping", "Unsupported: shopping"),
        ("deu", "freitag 18:00 wöchentlich einkaufen", "Unsupported: einkaufen"),
    ] {
        assert_eq!(read(code, ask), expected, "{ask}");
    }
}
