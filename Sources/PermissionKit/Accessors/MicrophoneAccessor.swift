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

  /// Creates an accessor for one microphone: `/dev/snd/pcmC0D0c`.
  ///
  /// - Parameters:
  ///   - path: The path, from `/`.
  ///   - analytics: The log that receives the events.
  public convenience init(path: PathBytes, analytics: AnalyticsLog = .shared) {
    self.init(AccessContext(path: path), analytics: analytics)
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(context.system, root: context.root, mayOpen: false)
    let hint = "no node /dev/snd/pcm*c, and no capture PCM in /proc/asound"
    guard context.path == nil, let (sound, files) = soundDefault(of: subject) else {
      return deviceResources(catalog.microphones, of: .microphone, noneHint: hint)
    }
    var findings = catalog.microphones()
    if findings.devices.isEmpty {
      return deviceResources({ findings }, of: .microphone, noneHint: hint)
    }
    findings.devices.removeAll { !catalog.isDefault(sound, $0) }
    if !findings.devices.isEmpty {
      return deviceResources({ findings }, of: .microphone, noneHint: hint)
    }
    return ResourceSet(absences: [notPlain(sound, files)])
  }

  /// Returns ALSA's default device, and the files that define it; nil if none does.
  private func soundDefault(of subject: Subject) -> (SoundDefault, [PathBytes])? {
    let system = context.system
    var files: [PathBytes] = []
    var texts: [String] = []
    for file in SoundDefault.files(home: subject.home, root: context.root)
    where system.availability(of: file) == .immediate {
      guard let bytes = try? system.contents(of: file, limit: 1 << 18) else { continue }
      files.append(file)
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    return texts.isEmpty ? nil : SoundDefault(texts).map { ($0, files) }
  }

  /// Returns the report on a default that is not plainly a node of a present card.
  private func notPlain(_ sound: SoundDefault, _ files: [PathBytes]) -> ResourceReport {
    let places = files.map(\.description).joined(separator: ", ")
    let why =
      switch sound {
      case .hardware: "and there is no such capture device"
      case .other("dsnoop"):
        "which shares a card among programs and also opens /dev/snd/timer; only recording shows whether it works"
      case .other: "which is not plainly a node of a card; only recording shows whether it works"
      }
    var reason = Reason(
      .soundDefault, .proven, "ALSA's default device is \(sound.name) (\(places)), \(why)",
      evidence: ["pcm.default: \(sound.name)"])
    reason.ownAdvice = "name the node, such as mic=/dev/snd/pcmC0D0c"
    return ResourceSet.absence(
      context.root.appending("dev/snd"), label: "default", device: "default",
      status: .notDetermined,
      reason)
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev/snd", "sys/class/sound", "proc/asound"])
  }
}
