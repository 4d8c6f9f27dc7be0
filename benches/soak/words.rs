//! Texts of messages.

pub const CHATTER: [&str; 16] = [
    "Shall we try the Thai place on Friday?",
    "I was there in spring, the noodles are great but it gets loud after eight.",
    "how many are we now?",
    "Seven, if Katya comes. She said she will know tomorrow.",
    "The train from Tartu comes in at 18:40, so not before seven please",
    "ok, I can call them and ask for the round table",
    "Does anybody still have the charger I left at your place last week?",
    "here: https://example.org/menu?lang=en",
    "Kes tuleb laupäeval rappa? Laudtee on jälle lahti 🌲",
    "В субботу обещают дождь, возьмите куртки",
    "👍👍🏽 see you there 👨‍👩‍👧",
    "the deploy went through at noon, nothing odd in the logs",
    "Who has the keys of the boat shed? I looked everywhere and the spare ones are gone too, and so is the rope that \
     we bought in May.",
    "yes",
    "I would rather take the northern path: fewer stairs, and the view over the lake is worth the detour",
    "no idea, sorry",
];

pub const ASKS: [&str; 8] = [
    "@bot when do we meet?",
    "@bot who wanted to bring the charger?",
    "what do you think, @bot?",
    "@bot what did we settle on?",
    "so who comes in the end @bot",
    "@bot how late does the train come in?",
    "@bot ???",
    "@bot mis sa sellest arvad?",
];

/// Returns the entry at `at`, where each entry occupies as many places as its number says.
pub fn pick<T>(of: &[(u64, T)], at: u64) -> &T {
    let mut sum = 0;
    let found = of.iter().find(|(places, _)| {
        sum += places;
        at < sum
    });
    &found.unwrap_or(&of[0]).1
}
