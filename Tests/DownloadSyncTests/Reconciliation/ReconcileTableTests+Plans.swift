import DownloadStore
import Testing

@testable import DownloadSync

// The plans of transfers.

extension ReconcileTableTests {
  static let plans = [
    row(
      "waiting none missing complete stale",
      "Z2",
      "plan",
      "waiting",
      "P1 finalise",
      conditions: unvouched
    ),
    row("waiting none missing equal valid", "Z2", "plan", "waiting", "P2 resumeData"),
    row(
      "waiting none missing equal valid",
      "Z2",
      "plan",
      "waiting",
      "P7 range",
      conditions: noResumeData
    ),
    row(
      "waiting none missing over corrupt",
      "Z2",
      "plan",
      "waiting",
      "P3+P10 drop resume data, truncate to the committed bytes, range"
    ),
    row(
      "waiting none missing equal stale",
      "Z2",
      "plan",
      "waiting",
      "P4 drop resume data, delete partial, zero"
    ),
    row("waiting none missing missing stale", "Z2", "plan", "waiting", "P4 drop resume data, zero"),
    row(
      "waiting none missing shorter corrupt",
      "Z2",
      "plan",
      "waiting",
      "P3+P9 drop resume data, delete partial, zero"
    ),
    row(
      "waiting none missing shorter",
      "Z2",
      "plan",
      "waiting",
      "P11 check pieces, range",
      conditions: withPieces
    ),
    row(
      "waiting none missing equal",
      "Z2",
      "plan",
      "waiting",
      "P12 check pieces, range",
      conditions: changedPieces
    ),
    row(
      "finalizing none missing complete",
      "F1",
      "redo the rename",
      "finalizing → completed",
      conditions: changedPieces
    ),
    row(
      "waiting none missing complete",
      "Z2",
      "plan",
      "waiting",
      "P12 check pieces, range",
      conditions: changedPieces
    ),
    row(
      "running none missing longer",
      "Z1",
      "plan",
      "waiting at the head of its priority",
      "P13 delete partial, zero",
      conditions: changed
    ),
    row(
      "waiting none missing equal valid",
      "Z2",
      "plan",
      "waiting",
      "P2 resumeData",
      conditions: changed
    ),
    row(
      "waiting none missing shorter",
      "Z2",
      "plan",
      "waiting",
      "P11 check pieces, range",
      conditions: changedPieces
    ),
    row(
      "waiting none missing equal none",
      "Z2",
      "plan",
      "waiting",
      "P7 zero",
      conditions: unvouched
    ),
    row(
      "waiting none missing longer corrupt",
      "Z2",
      "plan",
      "waiting",
      "P3+P8 drop resume data, zero",
      conditions: unvouched
    ),
  ]
}
