//! Finds recordings that are too faint to contain speech.

use opus_pure::{OggOpusReader, OggPacket};

/// Sample rate of the decoded sound, in samples per second. Speech is loudest well below half of it.
const RATE: u16 = 16_000;
/// Maximum length of a packet of Opus: 120 ms.
const PACKET: usize = RATE as usize * 120 / 1_000;
/// Length of the parts whose loudness is measured, about a syllable: 200 ms.
const PART: usize = RATE as usize / 5;
/// Mean square of a part, relative to full scale, from which on it may be speech: -70 dB. On an Android phone without
/// automatic gain that is 42 dB of sound pressure at the microphone; a whisper has more.
const FAINTEST: f32 = 1e-7;
/// Maximum length that is decoded, a little more than the longest recording that is transcribed: 11 minutes.
const LONGEST: usize = RATE as usize * 11 * 60;

/// Returns `true` if each 200 ms of an Ogg Opus file, the format of Telegram's voice messages, stay below -70 dB.
/// Returns `false` for other formats and for damaged or longer files. May panic on hostile files.
pub fn is_faint(recording: &[u8]) -> bool {
    has_faint_parts_only(recording).unwrap_or(false)
}

/// Stops at the first part that may be speech, so that a recording in which somebody speaks costs little.
fn has_faint_parts_only(recording: &[u8]) -> opus_pure::Result<bool> {
    let mut reader = OggOpusReader::new(recording)?;
    let channels = usize::from(reader.head().channel_count);
    let mut decoder = reader.head().decoder(RATE.into())?;
    let (mut packet, mut samples) = (OggPacket::default(), vec![0.0; PACKET * channels]);
    let (mut part, mut length) = (Part::default(), 0);
    while reader.read_packet_into(&mut packet)? {
        let decoded = decoder.decode(&packet.data, PACKET, &mut samples)?;
        length += decoded;
        if length > LONGEST {
            return Ok(false);
        }
        for sample in &samples[..decoded * channels] {
            part.add(*sample);
            if part.samples == PART * channels {
                if !part.is_faint() {
                    return Ok(false);
                }
                part = Part::default();
            }
        }
    }
    Ok(length > 0 && (part.samples == 0 || part.is_faint()))
}

#[derive(Default)]
struct Part {
    samples: usize,
    sum_of_squares: f32,
}

impl Part {
    fn add(&mut self, sample: f32) {
        self.samples += 1;
        self.sum_of_squares += sample * sample;
    }

    /// Returns `false` also if a sample is not a number.
    fn is_faint(&self) -> bool {
        self.sum_of_squares < FAINTEST * self.samples as f32
    }
}
