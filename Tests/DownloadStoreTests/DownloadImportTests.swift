import Testing

@testable import DownloadStore

/// What an import keeps in memory for its messages.
@Suite struct DownloadImportTests {
  @Test func `of the values that messages list, ten are kept and all are counted`() {
    var values = DownloadImport.FirstValues<Int>()
    for value in 1...1_000 { values.append(value) }
    #expect(values.first == Array(1...10) && values.moreCount == 990)
  }
}
