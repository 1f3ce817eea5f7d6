internal import DownloadStore

/// Where the next byte of a download comes from.
package struct TransferPlan: Sendable, Hashable {
  /// The kinds of request, and what they do with the bytes on disk.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// No request: the partial file is complete, and is verified and renamed.
    case finalise
    /// A request made by the transport from the resume data.
    case resumeData
    /// A range request from the committed offset, with `If-Range`.
    case range
    /// A request for the whole file.
    case zero
  }

  /// One rule of planning.
  package struct Rule: Sendable {
    /// The names of the rules, in the order of evaluation.
    package enum ID: String, Sendable, Hashable, CaseIterable {
      /// The partial file is complete.
      case p1 = "P1"
      /// The resume data is valid, and the transport accepts it.
      case p2 = "P2"
      /// The resume data cannot be used.
      case p3 = "P3"
      /// The resume data has another validator or URL than the record.
      case p4 = "P4"
      /// The partial file is missing.
      case p6 = "P6"
      /// Another program may have changed the partial file, and the store has digests of its pieces.
      case p12 = "P12"
      /// Another program may have changed the partial file, and nothing shows what is left of it.
      case p13 = "P13"
      /// The partial file is as long as the committed count.
      case p7 = "P7"
      /// The partial file is longer than the committed count.
      case p8 = "P8"
      /// The partial file is shorter than the committed count, and the store has digests of its
      /// pieces.
      case p11 = "P11"
      /// The partial file is shorter than the committed count.
      case p9 = "P9"
      /// The partial file is longer than the whole file.
      case p10 = "P10"
    }

    /// The rule's name.
    package var id: ID
    /// The condition under which the rule matches, as text.
    package var condition: String
    /// The actions before the request; a plan omits those that have no effect in its case.
    package var actions: [ReconcileAction]
    /// Where the next byte comes from; `nil` if the following rules decide.
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

  /// The rules that matched, in order.
  package var rules: [Rule.ID]
  /// The actions before the request, in order.
  package var actions: [ReconcileAction]
  /// Where the next byte comes from.
  package var source: Source

  /// Whether the download starts at the first byte, using none of the bytes in the partial file.
  var startsFromZero: Bool { source == .zero }
}

extension TransferPlan.Rule {
  /// The rules that an engine reaches with every transport.
  static let core = [
    Self(
      .p1,
      "partial complete, not changed",
      ReconcilePattern(partial: [.complete], isPartialChanged: false),
      from: .finalise
    ),
    Self(.p6, "no partial", ReconcilePattern(partial: [.missing]), from: .zero),
    // The file was modified later than an engine has written it. Its size alone says nothing.
    Self(
      .p12,
      "partial changed, digests of its pieces",
      ReconcilePattern(
        partial: [.equal, .longer, .complete, .over],
        hasPieceDigests: true,
        isPartialChanged: true
      ),
      does: [.checkPieces],
      from: .range
    ),
    Self(
      .p13,
      "partial changed, no digest",
      ReconcilePattern(partial: [.equal, .longer, .complete, .over], isPartialChanged: true),
      does: [.deletePartial],
      from: .zero
    ),
    Self(.p7, "partial equal", ReconcilePattern(partial: [.equal]), from: .range),
    // After a power failure, bytes past the committed count may be zeros.
    Self(
      .p8,
      "partial longer",
      ReconcilePattern(partial: [.longer]),
      does: [.truncateToCommitted],
      from: .range
    ),
    // The engine never shortens a file below the committed bytes, and commits after a sync, so
    // something else has truncated the file. The digests say which of the other bytes are intact.
    Self(
      .p11,
      "partial shorter, digests of its pieces",
      ReconcilePattern(partial: [.shorter], hasPieceDigests: true),
      does: [.checkPieces],
      from: .range
    ),
    Self(
      .p9,
      "partial shorter",
      ReconcilePattern(partial: [.shorter]),
      does: [.deletePartial],
      from: .zero
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
