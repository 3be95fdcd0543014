/// Access to the microphones that ALSA shows as capture PCMs, each with its card's control node.
///
/// - SeeAlso: sound/core/pcm_native.c; alsa-lib's `snd_pcm_open()`, which opens the control first
public final class MicrophoneAccessor: ResourceAccessor {
  /// The name that the standard registry knows it by.
  public static let name = "microphone"

  /// Makes an accessor for all microphones, or for the node that `context.path` names.
  public init(_ context: AccessContext = AccessContext(), analytics: AnalyticsLog = .shared) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  public override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(context.system, root: context.root, mayOpen: false)
    return deviceResources(
      catalog.microphones, of: .microphone,
      noneHint: "no node /dev/snd/pcm*c, and no capture PCM in /proc/asound")
  }

  public override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev/snd", "sys/class/sound", "proc/asound"])
  }
}
