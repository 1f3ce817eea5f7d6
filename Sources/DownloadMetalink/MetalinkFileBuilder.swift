internal import DownloadStore

/// Collects the description of one file of a Metalink document, and checks it.
struct MetalinkFileBuilder {
  /// A description that cannot be used.
  struct Unusable: Error {
    var file: Metalink.SkippedFile
  }

  private struct OpenPieces {
    var algorithm: Digest.Algorithm
    var pieces: Metalink.Pieces
  }

  private let line: Int
  private let name: String?
  private var byteCount: Int64?
  private var digests: [Digest] = []
  /// The lists of pieces; `nil` for one whose algorithm is unknown.
  private var pieces: [OpenPieces?] = []
  private var sources: [Metalink.Source] = []
  private var urls: Set<StoredText> = []
  /// The first contradiction.
  private var problem: String?

  init(name: String?, line: Int) {
    self.name = name
    self.line = line
  }

  mutating func addSize(_ text: String) {
    guard let count = Int64(text), RecordLimits.isSize(count) else {
      return note("'\(text)' is not a size")
    }
    byteCount = count
  }

  mutating func addDigest(_ text: String, type: String?) {
    guard let type, let algorithm = Digest.Algorithm(named: type) else { return }
    guard let digest = digest(text, algorithm) else { return }
    digests.append(digest)
  }

  mutating func beginPieces(type: String?, length: String?) {
    guard let type, let algorithm = Digest.Algorithm(named: type) else {
      return pieces.append(nil)
    }
    guard let count = length.flatMap({ Int64($0) }), count > 0, RecordLimits.isSize(count) else {
      return note("'\(length ?? "")' is not the length of a piece")
    }
    pieces.append(OpenPieces(algorithm: algorithm, pieces: .init(byteCount: count, digests: [])))
  }

  mutating func addPieceDigest(_ text: String) {
    // Only the algorithm is read: a copy of the list would copy its digests for each one.
    guard let algorithm = pieces.last.flatMap({ $0?.algorithm }),
      let digest = digest(text, algorithm)
    else { return }
    pieces[pieces.count - 1]?.pieces.digests.append(digest)
  }

  mutating func addSource(_ url: String, priority: String?, location: String?) {
    // RFC 5854, 4.2.17.1: from 1 to 999999; a missing priority is the lowest.
    guard (try? RecordIdentity.validate(url)) != nil, urls.insert(StoredText(url)).inserted else {
      return
    }
    let lowest = 999_999
    let number = priority.flatMap { Int($0) } ?? lowest
    sources.append(
      Metalink.Source(
        url: url,
        priority: (1...lowest).contains(number) ? number : lowest,
        location: location?.lowercased()
      )
    )
  }

  /// Returns the file.
  func build() throws(Unusable) -> Metalink.File {
    let (folder, name) = try place()
    if let problem { throw unusable(problem) }
    guard !sources.isEmpty else { throw unusable("it has no http or https URL") }
    do throws(RecordStoreError) {
      _ = try Digest.strongest(of: digests)
    } catch {
      throw unusable(error.message)
    }
    let best = pieces.compactMap { $0 }.max { $1.algorithm.isStronger(than: $0.algorithm) }
    if let best, let byteCount {
      let count = best.pieces.byteCount
      let expected = byteCount / count + (byteCount % count == 0 ? 0 : 1)
      guard Int64(best.pieces.digests.count) == expected else {
        throw unusable(
          "\(byteCount) bytes have not \(best.pieces.digests.count) pieces of \(count)"
        )
      }
    }
    return Metalink.File(
      folder: folder,
      name: name,
      byteCount: byteCount,
      digests: digests.sorted { $0.algorithm.isStronger(than: $1.algorithm) },
      pieces: best?.pieces,
      // The sort is stable.
      sources: sources.sorted { $0.priority < $1.priority }
    )
  }

  /// The folder and the name: RFC 5854, 4.1.2.1, forbids names that lead out of the folder.
  private func place() throws(Unusable) -> (folder: String, name: String) {
    guard let name, !name.isEmpty else { throw unusable("it has no name") }
    guard !name.unicodeScalars.contains("\\"), let path = try? FileLayout.validatedFolder(name),
      !path.isEmpty, name.unicodeScalars.last != "/"
    else {
      throw unusable("'\(name)' is not a file name below the folder")
    }
    var parts = path.unicodeScalars.split(separator: "/").map { String($0) }
    let last = parts.removeLast()
    let folder = parts.joined(separator: "/")
    guard !FileLayout.isHidden(folder) else {
      throw unusable("'\(name)' is in a hidden folder")
    }
    return (folder, last)
  }

  private mutating func digest(_ text: String, _ algorithm: Digest.Algorithm) -> Digest? {
    guard let digest = try? Digest("\(algorithm.rawValue):\(text)") else {
      note("'\(text.prefix(80))' is not a digest of the type \(algorithm.rawValue)")
      return nil
    }
    return digest
  }

  private mutating func note(_ text: String) {
    problem = problem ?? text
  }

  private func unusable(_ reason: String) -> Unusable {
    Unusable(file: Metalink.SkippedFile(line: line, reason: reason))
  }
}
