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
    var unseen: Unseen?
    guard context.path == nil, let (sound, files) = soundDefault(of: subject, &unseen) else {
      return deviceResources(catalog.microphones, of: .microphone, noneHint: hint)
    }
    var findings = catalog.microphones()
    if findings.devices.isEmpty {
      return deviceResources({ findings }, of: .microphone, noneHint: hint)
    }
    if let unseen { return ResourceSet(absences: [notSeen(unseen)]) }
    findings.devices.removeAll { !catalog.isDefault(sound, $0) }
    if !findings.devices.isEmpty {
      return deviceResources({ findings }, of: .microphone, noneHint: hint)
    }
    return ResourceSet(absences: [notPlain(sound, files)])
  }

  /// Returns ALSA's default device, and the files that define it; nil if none does.
  ///
  /// permcheck-helper gives each microphone, and looks at no file of its caller.
  ///
  /// - Parameters:
  ///   - subject: The user.
  ///   - unseen: The file that this process may not read, and the user perhaps can.
  /// - Returns: The default; nil if there is none.
  private func soundDefault(
    of subject: Subject, _ unseen: inout Unseen?
  ) -> (SoundDefault, [PathBytes])? {
    if grants.isConfinedToDevices { return nil }
    let system = context.system
    var files: [PathBytes] = []
    var texts: [String] = []
    var isUnknown = false
    for file in SoundDefault.files(home: subject.home?.below(context.root), root: context.root) {
      do throws(Errno) {
        guard let examiner = system.examiner(of: file) else { throw .ETIMEDOUT }
        _ = try examiner.status(of: file)
        let door = system.door(to: file, of: subject, below: context.root)
        let bytes = try door.contents(of: file, limit: SoundDefault.mostBytes)
        texts.append(String(decoding: bytes, as: UTF8.self))
        files.append(file)
      } catch .ENOENT {
      } catch .ENOTDIR {
      } catch {
        if error == .EACCES {
          // What alsa-lib cannot read either, it leaves out.
          if subject.source == .current || system.isRoot { continue }
          unseen = Unseen(file, error)
        }
        files.append(file)
        isUnknown = true
      }
    }
    if isUnknown { return (.other("computed"), files) }
    return texts.isEmpty ? nil : SoundDefault(texts).map { ($0, files) }
  }

  /// Returns the report on a default that a file may name which this process may not read.
  private func notSeen(_ unseen: Unseen) -> ResourceReport {
    var reason = Reason(
      .unreadableFacts, .proven, "\(unseen) cannot be read, and may name another default device")
    reason.ownAdvice = "check as root, or name the node, such as mic=/dev/snd/pcmC0D0c"
    return ResourceSet.absence(
      context.root.appending("dev/snd"), label: "default", device: "default",
      status: .notDetermined, reason)
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
