internal import DownloadStore

/// Where the next byte of a download comes from.
package struct TransferPlan: Sendable, Hashable {
  /// The kinds of request.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// No request: the partial file is checked and gets its name.
    case finalise
    /// The resume data is handed to the transport.
    case resumeData = "blob"
    /// A range from the committed offset on, with `If-Range`.
    case range
    /// A range from the last checkpoint on whose bytes are known to be good; from zero without one.
    case checkpoint
    /// The whole, from the first byte on.
    case zero

    /// Whether bytes that are on disk are continued.
    var isRange: Bool { self == .range || self == .checkpoint }
  }

  /// One rule of planning.
  package struct Rule: Sendable {
    /// The names of the rules.
    ///
    /// They are in the order in which they are asked.
    package enum ID: String, Sendable, Hashable, CaseIterable {
      /// All bytes are there.
      case p1 = "P1"
      /// The resume data says it.
      case p2 = "P2"
      case p3 = "P3"
      case p4 = "P4"
      case p5 = "P5"
      /// The partial file says it.
      case p6 = "P6"
      case p7 = "P7"
      case p8 = "P8"
      case p9 = "P9"
      case p10 = "P10"
    }

    /// The rule's name.
    package var id: ID
    /// When the rule fires, in words.
    package var condition: String
    /// What is done before the request, to what there is of it.
    package var actions: [ReconcileAction]
    /// Where the byte comes from; `nil` when the rules after it say so.
    package var source: Source?
    var pattern: ReconcilePattern

    init(
      _ id: ID,
      _ condition: String,
      _ pattern: ReconcilePattern,
      does actions: [ReconcileAction] = [],
      from source: Source?
    ) {
      self.id = id
      self.condition = condition
      self.pattern = pattern
      self.actions = actions
      self.source = source
    }
  }

  /// The rules that fired, in their order.
  package var rules: [Rule.ID]
  /// What is done before the request, in order.
  package var actions: [ReconcileAction]
  /// Where the byte comes from.
  package var source: Source

  /// Whether nothing that is on disk is used by a transport without resume data.
  ///
  /// Checkpoints have no digest by which their bytes would be known to be good.
  var beginsAnew: Bool { source == .zero || source == .checkpoint }
}

extension TransferPlan.Rule {
  static let standard = [
    Self(.p1, "partial complete", ReconcilePattern(partial: [.complete]), from: .finalise),
    Self(
      .p2,
      "blob valid",
      ReconcilePattern(resumeData: [.valid], takesResumeData: true),
      from: .resumeData
    ),
    Self(
      .p3,
      "blob corrupt",
      ReconcilePattern(resumeData: [.corrupt]),
      does: [.dropResumeData],
      from: nil
    ),
    // Both are of the old entity, and two versions of a file are never joined.
    Self(
      .p4,
      "blob stale",
      ReconcilePattern(resumeData: [.stale]),
      does: [.dropResumeData, .deletePartial],
      from: .zero
    ),
    Self(
      .p5,
      "blob's file missing",
      ReconcilePattern(resumeData: [.temporaryFileMissing]),
      does: [.dropResumeData],
      from: nil
    ),
    Self(.p6, "no partial", ReconcilePattern(partial: [.missing]), from: .zero),
    Self(.p7, "partial equal", ReconcilePattern(partial: [.equal]), from: .range),
    // Bytes after the last synced commit may be zeros after a power cut.
    Self(
      .p8,
      "partial longer",
      ReconcilePattern(partial: [.longer]),
      does: [.truncateToCommitted],
      from: .range
    ),
    // We only append, and commit after a sync: something else cut the file.
    Self(
      .p9,
      "partial shorter",
      ReconcilePattern(partial: [.shorter]),
      does: [.truncateToCheckpoint],
      from: .checkpoint
    ),
    Self(
      .p10,
      "partial over",
      ReconcilePattern(partial: [.over]),
      does: [.truncateToCommitted],
      from: .range
    ),
  ]
}
