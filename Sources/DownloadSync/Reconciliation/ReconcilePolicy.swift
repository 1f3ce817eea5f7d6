/// What decisions depend on besides what is found.
public struct ReconcilePolicy: Sendable, Hashable {
  /// Whether the transport takes resume data, as a ``BackgroundTransport`` does.
  public var takesBlobs: Bool
  /// Whether bytes are continued of which neither a validator nor a digest tells whether they still
  /// belong to the server's file.
  public var continuesUnvalidated: Bool

  /// States a policy; the usual one is that of a transport that moves bytes, and careful.
  public init(takesBlobs: Bool = false, continuesUnvalidated: Bool = false) {
    self.takesBlobs = takesBlobs
    self.continuesUnvalidated = continuesUnvalidated
  }
}
