import Testing

@testable import PermissionKit

/// What files say about ALSA's default device; recording itself is in the lab's scenario `devices`.
@Suite struct SoundDefaultTests {
  static let rows: [([String], SoundDefault?)] = [
    ([""], nil),
    (["# pcm.!default { type null }\npcm.mine { type hw card 1 }\n"], nil),
    (["ctl.!default { type hw card 1 }"], nil),
    (["pcm.!default { type hw card 1 }"], .hardware(card: "1", device: nil)),
    (["pcm.!default { type hw\n card Dummy\n device 2 }"], .hardware(card: "Dummy", device: 2)),
    (["pcm.!default = \"hw:0,1\";"], .hardware(card: "0", device: 1)),
    (["pcm.!default plughw:Dummy"], .hardware(card: "Dummy", device: nil)),
    (["pcm { !default { type plug slave.pcm \"hw:1\" } }"], .hardware(card: "1", device: nil)),
    (
      ["pcm.!default { type plug slave { pcm { type hw card 1 } } }"],
      .hardware(card: "1", device: nil)
    ),
    (
      [
        "pcm.!default { type asym playback.pcm dmix capture.pcm \"plug:mine\" }\npcm.mine \"hw:1,3\""
      ],
      .hardware(card: "1", device: 3)
    ),
    (["defaults.pcm.card 1\ndefaults.ctl.card 1\n"], .hardware(card: "1", device: nil)),
    (["defaults.pcm { card 1; device 2 }"], .hardware(card: "1", device: 2)),
    (["pcm.!default { type dsnoop ipc_key 5 slave.pcm \"hw:0\" }"], .other("dsnoop")),
    (["pcm.!default { type plug slave.pcm \"dsnoop:0\" }"], .other("dsnoop")),
    (["pcm.!default { type null }"], .other("null")),
    (["pcm.!default { type pulse }"], .other("pulse")),
    (["pcm.!default mine\npcm.mine { type plug slave.pcm mine }"], .other("computed")),
    (["pcm.!default { @func refer name \"pcm.hw\" }"], .other("computed")),
    (["</usr/share/alsa/mine.conf>"], .other("computed")),
    (
      ["pcm.!default { type dsnoop }", "defaults.pcm.card 1"], .other("dsnoop")
    ),
    (
      ["pcm.!default dsnoop:0", "pcm.!default { type hw card 1 }"],
      .hardware(card: "1", device: nil)
    ),
    (["pcm.!default { type hw card 0 }", "pcm.!default { type null }"], .other("null")),
    (["pcm.!default {"], .other("computed")),
  ]

  @Test(arguments: rows) func `ALSA's default device is found`(
    _ texts: [String], _ sound: SoundDefault?
  ) {
    #expect(SoundDefault(texts) == sound)
  }
}
