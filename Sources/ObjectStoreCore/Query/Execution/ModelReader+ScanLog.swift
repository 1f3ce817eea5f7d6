extension ModelTables {
  /// Logs a scan of more than ``StoreLog/scanWarningThreshold`` objects.
  ///
  /// It does not report models without any index, nor queries that neither test nor sort by a
  /// field.
  func logScan(_ objects: Int, _ core: ResolvedQuery) {
    guard objects > StoreLog.scanWarningThreshold, let log else { return }
    let positions = core.node.positions.union(core.order.columns.map(\.position))
    guard !indexes.isEmpty, !positions.isEmpty else { return }
    log.didScan(
      objects,
      of: name,
      fields: positions.sorted().map { fieldName(at: $0) ?? "field \($0)" },
      sorts: !core.order.columns.isEmpty
    )
  }
}
