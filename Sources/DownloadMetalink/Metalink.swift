public import DownloadStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Metalink document, version 4 (RFC 5854): files with their mirrors and digests.
///
/// ```swift
/// let document = try Metalink(Data(contentsOf: URL(filePath: "release.meta4")))
/// for file in document.skipped { print("line \(file.line): \(file.reason)") }
/// try await store.add(document.files.map { DownloadRequest($0) })
/// ```
public struct Metalink: Sendable, Hashable {
  /// The files that can be downloaded, in the order of the document.
  public var files: [File]
  /// The files that cannot be downloaded, in the order of the document.
  public var skipped: [SkippedFile]

  /// A file of a document that cannot be downloaded.
  public struct SkippedFile: Sendable, Hashable {
    /// The line of the file's element.
    public var line: Int
    /// The reason, such as a name that leads out of the folder.
    public var reason: String
  }

  /// A file: its name, what is known of its contents, and where it is.
  public struct File: Sendable, Hashable {
    /// The folder in the name of the file, relative; empty if there is none.
    public var folder: String
    /// The file name.
    public var name: String
    /// The size in bytes.
    public var byteCount: Int64?
    /// The digests of the whole file whose algorithms are known, strongest first; those with the
    /// strongest algorithm are equal.
    public var digests: [Digest]
    /// The digests of its pieces, with the strongest known algorithm.
    public var pieces: Pieces?
    /// The URLs with the scheme http or https, by ``Source/priority``; at least one.
    public var sources: [Source]
  }

  /// A URL of a file.
  public struct Source: Sendable, Hashable {
    /// The URL.
    public var url: String
    /// The priority, from 1, which is used first, to 999999, which is also the default.
    public var priority: Int
    /// The country of the server in lower case, such as `de` (ISO 3166-1 alpha-2).
    public var location: String?
  }

  /// The digests of equally long pieces; the last piece may be shorter.
  public struct Pieces: Sendable, Hashable {
    /// The length of a piece in bytes, above zero.
    public var byteCount: Int64
    /// The digests in the order of the pieces.
    public var digests: [Digest]
  }

  /// Reads a document.
  ///
  /// Elements of other namespaces, unknown algorithms, URLs of other schemes and torrents
  /// (`metaurl`) are ignored. A file whose description contradicts itself or cannot be used is
  /// ``skipped``: ignoring only the damaged part could drop a checksum.
  ///
  /// The encoding must be UTF-8. External entities are not loaded.
  ///
  /// - Parameter document: XML; at most ``longest`` bytes.
  /// - Throws: ``MetalinkError``.
  public init(_ document: Data) throws(MetalinkError) {
    guard document.count <= Self.longest else {
      throw MetalinkError(.tooLong, "the document is longer than \(Self.longest / 1_000_000) MB")
    }
    // Foundation's parser on Linux crashes at names that are not UTF-8, and it decodes what it is
    // told to: both are decided before it sees the document.
    guard let text = String(validating: document, as: UTF8.self), Self.isDeclaredUTF8(text) else {
      throw MetalinkError(.notXML, "the document is not encoded in UTF-8")
    }
    self = try MetalinkReader().read(document)
  }

  /// Whether the XML declaration names no encoding, or UTF-8 (XML 1.0, 4.3.3).
  private static func isDeclaredUTF8(_ text: String) -> Bool {
    let declaration = text.prefix { $0 != ">" }
    guard let match = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)/) else { return true }
    return ["utf-8", "utf8", "us-ascii"].contains(match.output.1.lowercased())
  }

  init(files: [File], skipped: [SkippedFile]) {
    self.files = files
    self.skipped = skipped
  }

  /// The length of the longest document that is read, in bytes: 10 MB.
  ///
  /// The XML parser of Foundation reads no more in one document.
  public static let longest = 10_000_000
}

/// A document that is not a Metalink document.
public struct MetalinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of error; later versions may add more.
  public struct Code: Sendable, Hashable {
    private enum Value {
      case notXML, notMetalink, oldVersion, tooLong
    }

    private let value: Value

    /// The document is not well-formed XML.
    public static let notXML = Self(value: .notXML)
    /// The document is XML of another kind, or describes no file.
    public static let notMetalink = Self(value: .notMetalink)
    /// The document has version 3, which has another structure.
    public static let oldVersion = Self(value: .oldVersion)
    /// The document is longer than ``Metalink/longest``.
    public static let tooLong = Self(value: .tooLong)
  }

  /// The kind of error.
  public var code: Code
  /// The description of the error, with the line if it is known.
  public var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

extension DownloadRequest {
  /// Creates a request for a file of a Metalink document.
  ///
  /// The first source is the URL, which identifies the download, and the others are the mirrors. The
  /// digests of the pieces are required if the document has the size of the file. Without any digest,
  /// the size is required; for an empty file that is the digest of no bytes.
  ///
  /// A known download keeps its digest. It gets the mirrors and the digests of the pieces only if the
  /// document states the digest that it has.
  ///
  /// - Parameters:
  ///   - file: A file of a document.
  ///   - locations: Countries, in lower case; sources there come first.
  public init(_ file: Metalink.File, preferring locations: Set<String> = []) {
    let isNear = { (source: Metalink.Source) in
      source.location.map(locations.contains) ?? false
    }
    let urls = (file.sources.filter(isNear) + file.sources.filter { !isNear($0) }).map(\.url)
    self.init(url: urls[0])
    isFromDocument = true
    mirrors = Array(urls.dropFirst())
    filename = file.name
    folder = file.folder
    digest = file.digests.first
    if let pieces = file.pieces, let byteCount = file.byteCount, byteCount > 0 {
      self.pieces = RequiredPieces(
        byteCount: byteCount,
        pieceLength: pieces.byteCount,
        digests: pieces.digests
      )
    } else if digest == nil, let byteCount = file.byteCount, byteCount > 0 {
      self.pieces = RequiredPieces(byteCount: byteCount, pieceLength: byteCount, digests: [])
    } else if digest == nil, file.byteCount == 0 {
      // There is one file of this size.
      digest = DigestHasher(.sha256).digest
    }
  }
}
