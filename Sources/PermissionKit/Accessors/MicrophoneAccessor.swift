/// An accessor for microphones: the capture PCMs of ALSA, each with the control node of its card.
///
/// - SeeAlso: sound/core/pcm_native.c; alsa-lib's `snd_pcm_open()`, which opens the control first
open class MicrophoneAccessor: ResourceAccessor {
  /// The name in the standard registry.
  public static let name = "microphone"

  /// Creates an accessor for all microphones, or for the node at `context.path`.
  ///
  /// - Parameters:
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  public init(_ context: AccessContext = AccessContext(), analytics: AnalyticsLog = .shared) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(context.system, root: context.root, mayOpen: false)
    return deviceResources(
      catalog.microphones, of: .microphone,
      noneHint: "no node /dev/snd/pcm*c, and no capture PCM in /proc/asound")
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev/snd", "sys/class/sound", "proc/asound"])
  }
}
