internal import DownloadSync
internal import Foundation

/// A sink that does not receive every call.
struct DefectiveSink: TaskSink {
  let sink: any TaskSink
  let defects: Set<Defect>
  let chance: Chance

  /// Returns the sink unchanged if no defect affects it.
  static func wrapping(
    _ sink: any TaskSink,
    _ defects: Set<Defect>,
    _ chance: Chance
  ) -> any TaskSink {
    defects.isDisjoint(with: [.bytesGetLost, .endsGetLost])
      ? sink : Self(sink: sink, defects: defects, chance: chance)
  }

  func receive(_ head: ResponseHead) -> BodyDisposition { sink.receive(head) }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    if defects.contains(.bytesGetLost), chance.happens(0.1) { return .proceed }
    return sink.receive(bytes)
  }

  func report(held byteCount: Int64, of total: Int64?) {
    sink.report(held: byteCount, of: total)
  }

  func receive(resumeData: Data) {
    sink.receive(resumeData: resumeData)
  }

  func finish(_ outcome: TaskOutcome) {
    if defects.contains(.endsGetLost), chance.happens(0.3) { return }
    sink.finish(outcome)
  }
}
