//! Five weeks of a group. For a whole year there is `cargo bench --bench year`.

use chime_world::World;

#[path = "../../benches/rig/busy.rs"]
mod busy;

#[tokio::test]
async fn five_weeks_of_a_group_keep_sessions_folds_and_caps_on_every_day() {
    World::with(&busy::SETTINGS, async |w| {
        let lived = busy::live(w, 35, 64).await;
        assert!(lived.sessions >= 35 * 7, "{lived:?}");
        assert!(lived.folded >= 5 * 7, "{lived:?}");
        assert!(lived.history_tokens > 200 && lived.recent_tokens > 200 && lived.tokens > 0, "{lived:?}");
    })
    .await;
}
