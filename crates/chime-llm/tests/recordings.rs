//! Recordings whose loudness shows that nobody speaks, and files that try to break the decoder.

#![expect(clippy::expect_used, reason = "a server or a file that cannot be made fails its test")]

use std::time::Duration;

use opus_pure::{OggOpusWriter, OpusHead};

use chime_llm::{Audio, LlmOptions, Transcriptions};
use chime_runtime::clock::Clock;
use chime_testkit::ModelServer;

const MUTED: &[u8] = include_bytes!("../../../tests/data/recordings/muted.ogg");
const QUIET_ROOM: &[u8] = include_bytes!("../../../tests/data/recordings/quiet_room.ogg");
const QUIET_SPEECH: &[u8] = include_bytes!("../../../tests/data/recordings/quiet_speech.ogg");

struct Listener {
    server: ModelServer,
    transcriptions: Transcriptions,
}

impl Listener {
    /// Starts a server that hears the same words in every recording.
    async fn start() -> Self {
        let server = ModelServer::start(Clock::system()).await.expect("a port");
        server.hear_always("See you at eight.");
        let options = LlmOptions {
            api_key: None,
            base_url: server.base_url(),
            model: "ears".to_owned(),
            fallback: None,
            timeout: Duration::from_secs(30),
            deadline: Duration::from_mins(1),
        };
        Self { transcriptions: Transcriptions::new(&options).expect("usable options"), server }
    }

    /// Returns `true` if the words of the server count as spoken in this file.
    async fn hears_speech(&self, file: &[u8]) -> bool {
        let audio = Audio { file_name: "voice.ogg".to_owned(), bytes: file.to_vec(), seconds: 2 };
        let heard = self.transcriptions.transcribe(audio, &Clock::system()).await;
        !heard.expect("a transcript").text.is_empty()
    }
}

#[tokio::test]
async fn nobody_speaks_in_a_recording_of_nothing() {
    let listener = Listener::start().await;
    assert!(!listener.hears_speech(MUTED).await);
    assert!(!listener.hears_speech(QUIET_ROOM).await);
    assert!(listener.hears_speech(QUIET_SPEECH).await);
}

#[tokio::test]
async fn the_server_knows_better_than_the_loudness() {
    let listener = Listener::start().await;
    listener.server.judge_silence(0.1);
    assert!(listener.hears_speech(QUIET_ROOM).await);
    listener.server.judge_silence(0.95);
    assert!(!listener.hears_speech(QUIET_SPEECH).await);
}

#[tokio::test]
async fn a_file_that_cannot_be_decoded_is_not_silent() {
    let listener = Listener::start().await;
    let mut damaged = MUTED.to_vec();
    damaged[MUTED.len() - 9] ^= 1;
    let headers_only = file(&[]);
    for bytes in [&b"OggS, and nothing else"[..], b"", &MUTED[..60], &damaged, &headers_only, &file(&[vec![0xff; 9]])] {
        assert!(listener.hears_speech(bytes).await, "{bytes:?}");
    }
    // Each packet is 120 ms of digital silence: 12 minutes in 84 KB.
    let silence = [&[0xfb, 6][..], &[0xff, 0xfe].repeat(6)].concat();
    assert!(listener.hears_speech(&file(&vec![silence; 6_000])).await);
}

#[tokio::test]
async fn hostile_packets_do_no_harm() {
    let listener = Listener::start().await;
    let mut seed = 1_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let mut packets = Vec::new();
        for _ in 0..random(6) {
            let length = 1 + random(400);
            packets.push((0..length).map(|_| random(256) as u8).collect());
        }
        listener.hears_speech(&file(&packets)).await;
    }
}

/// Builds an Ogg Opus file of these packets.
fn file(packets: &[Vec<u8>]) -> Vec<u8> {
    let head = OpusHead::new(1, 48_000).expect("one channel");
    let mut writer = OggOpusWriter::new(Vec::new(), head).expect("headers");
    for packet in packets {
        writer.write_packet_with_duration(packet, 960).expect("a packet");
    }
    writer.finish().expect("the last page")
}
