import CReplay
import Foundation
import OracleCorpus
@_spi(SystemCalls) import PermissionKit

/// Prints speeds as ratios and rates of one run: swift run -c release benchmarks [CASES]

func seconds(_ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let time = try clock.measure(body)
  return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func rounded(_ value: Double, _ digits: Int = 2) -> String {
  String(format: "%.\(digits)f", value)
}

// MARK: - Decisions on the facts of the corpus

func decisions(_ path: String) throws {
  let corpus = try OracleCorpus(contentsOf: path)
  let prepared = corpus.cases.map { one in
    (
      AccessEvaluator(
        facts: one.facts(drivers: corpus.header.driver_errno), credentials: one.credentials),
      PathBytes(one.path), OracleCorpus.answers(one).map(\.question)
    )
  }
  var rates: [Double] = []
  for _ in 0..<7 {
    var count = 0
    var granted = 0
    let time = seconds {
      for (evaluator, path, questions) in prepared {
        for question in questions {
          count += 1
          if evaluator.decide(question, path: path).isGranted { granted += 1 }
        }
      }
    }
    precondition(granted > 0 && granted < count)
    rates.append(Double(count) / time)
  }
  print("decisions: \(Int(median(rates))) per second on one core (median of \(rates.count) runs)")
}

// MARK: - A check of nine nodes, against the same system calls in C

/// An accessor of nine nodes with any names; checks as every accessor does.
final class NineNodes: ResourceAccessor {
  private let set: ResourceSet

  init(_ paths: [PathBytes], _ context: AccessContext) {
    set = ResourceSet(
      resources: paths.map {
        Resource(
          path: $0, label: "node", device: $0.description, need: [.read, .write],
          kind: .characterDevice)
      })
    super.init(name: "nine", context: context, analytics: .discard)
  }

  override func resources(for subject: Subject) -> ResourceSet { set }
}

func nineNodes() {
  let paths: [PathBytes] = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev/fuse",
    "/dev/loop-control", "/dev/net/tun",
  ]
  let recording = RecordingSystem()
  let recorded = NineNodes(paths, AccessContext(system: recording)).checkAccess()
  let steps = recording.steps
  let names = steps.map { $0.path.map { strdup($0.description) } ?? nil }
  defer { for name in names { free(name) } }
  let calls = zip(steps, names).map { step, name in
    replay_step(
      call: Int32(step.call.rawValue), slot: step.slot, result: step.result, flags: step.flags,
      path: UnsafePointer(name))
  }
  let accessor = NineNodes(paths, AccessContext())
  let rounds = 100
  var ratios: [Double] = []
  for _ in 0..<101 {
    let c = seconds { for _ in 0..<rounds { _ = replay(calls, calls.count) } }
    let swift = seconds { for _ in 0..<rounds { _ = accessor.checkAccess() } }
    ratios.append(swift / c)
  }
  let statuses = recorded.resources.map(\.status.rawValue)
  print(
    "check of 9 nodes (\(Set(statuses).sorted().joined(separator: ", "))): "
      + "\(rounded(median(ratios))) x the same \(steps.count) system calls in C "
      + "(median of \(ratios.count) pairs, \(rounded(ratios.min() ?? 0)) to \(rounded(ratios.max() ?? 0)))"
  )
}

let corpus =
  CommandLine.arguments.dropFirst().first
  ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "Tests/KernelConformanceTests/Oracle/cases.jsonl.gz")
  .path
try decisions(corpus)
nineNodes()
try journals()
