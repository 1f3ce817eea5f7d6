internal import DownloadSimulation
internal import DownloadStore
internal import SystemInterface

/// The servers of a simulation: files under one or more URLs, in successive versions.
struct Website: Sendable {
  /// A file.
  struct Page: Sendable {
    var urls: [String]
    /// The URL that serves the same versions, and that some downloads have as a mirror.
    var mirror: String
    /// The entity tag of the mirror, if it has one of its own.
    var mirrorTag: String?
    /// Every version that was served, the newest last.
    var versions: [SimulatedResource]
    /// The URLs that still serve an older version, with the version's index.
    var outdated: [String: Int] = [:]
    /// Whether downloads have an expected digest; the page then has only one version.
    var hasDigest: Bool
    private let bodies = BodyBytes()
  }

  var pages: [Page] = []

  init(_ chance: Chance, _ profile: Profile) {
    for index in 0..<profile.recordCount {
      let host = chance.number(in: 1...profile.hostCount)
      let url = "https://host\(host).test/file\(index)"
      let size = chance.number(in: 0...profile.largestBody)
      var resource = SimulatedResource(
        SimulatedBody(seed: UInt64(index) << 32 | 1, byteCount: Int64(size))
      )
      switch chance.number(in: 0...4) {
      case 0: break
      case 1: resource.lastModified = Self.date(1)
      case 2: resource.entityTag = "W/\"1\""
      default:
        resource.entityTag = "\"1\""
        resource.lastModified = Self.date(1)
      }
      let hasDigest = chance.happens(0.3)
      pages.append(
        Page(
          urls: [url, "\(url)?again"],
          mirror: "https://mirror.test/file\(index)",
          mirrorTag: hasDigest && index % 2 == 0 ? "\"mirror\"" : nil,
          versions: [resource],
          hasDigest: hasDigest
        )
      )
    }
  }

  /// Gives some pages the bytes of another one, with a digest for each, so that one file is copied.
  mutating func makeEqual(_ chance: Chance) {
    guard let body = pages.first?.versions[0].body else { return }
    for index in pages.indices where index == 0 || chance.happens(0.6) {
      pages[index].versions[0].body = body
      pages[index].hasDigest = true
    }
  }

  /// Returns every URL of a page.
  func urls(_ index: Int) -> [String] { pages[index].urls + [pages[index].mirror] }

  /// Returns the page at a URL.
  func page(of url: String) -> Page? {
    pages.first { $0.urls.contains(url) }
  }

  /// Serves a new version at all URLs of a page, or at some of them.
  mutating func change(_ index: Int, _ chance: Chance, _ profile: Profile) {
    let changed = urls(index).filter { _ in !profile.dividesVersions || chance.happens(0.5) }
    change(index, at: changed, chance, profile)
  }

  /// Serves a new version at the given URLs of a page.
  mutating func change(
    _ index: Int,
    at changed: [String],
    _ chance: Chance,
    _ profile: Profile
  ) {
    guard !pages[index].hasDigest, var resource = pages[index].versions.last else { return }
    let version = pages[index].versions.count + 1
    let size = chance.happens(0.5) ? Int(resource.body.byteCount) : profile.largestBody
    resource.body = SimulatedBody(
      seed: UInt64(index) << 32 | UInt64(version),
      byteCount: Int64(chance.happens(0.5) ? size : chance.number(in: 0...size))
    )
    if let tag = resource.entityTag {
      resource.entityTag = tag.hasPrefix("W/") ? "W/\"\(version)\"" : "\"\(version)\""
    }
    if resource.lastModified != nil { resource.lastModified = Self.date(version) }
    pages[index].versions.append(resource)
    for url in urls(index) {
      let current = pages[index].outdated[url] ?? version - 2
      pages[index].outdated[url] = changed.contains(url) ? nil : current
    }
  }

  private static func date(_ version: Int) -> String {
    "Mon, 01 Jan 2024 00:\(version / 10 % 6)\(version % 10):00 GMT"
  }
}

extension Website.Page {
  /// Returns the version that a URL of the page serves.
  func version(at url: String) -> SimulatedResource? {
    var version = outdated[url].map { versions[$0] } ?? versions.last
    if url == mirror, let mirrorTag { version?.entityTag = mirrorTag }
    return version
  }

  /// Returns whether a server of the page states a tag for a version.
  private func states(_ tag: String?, for version: SimulatedResource) -> Bool {
    // A page with a digest has one version, whose servers may state any tags.
    tag == nil || version.entityTag == tag || mirrorTag == tag || hasDigest
  }

  /// Returns whether the bytes of a file are those of one version with the given tag, as far as they
  /// are counted.
  func serves(_ bytes: [UInt8], in counted: ByteRanges, entityTag: String?) -> Bool {
    versions.contains { version in
      states(entityTag, for: version)
        && counted.ranges.allSatisfy { range in
          bodies.match(bytes, in: range, version.body)
        }
    }
  }

  /// Returns whether the bytes are a whole version with the given tag.
  func serves(all bytes: [UInt8], entityTag: String?) -> Bool {
    versions.contains { version in
      states(entityTag, for: version)
        && Int64(bytes.count) == version.body.byteCount
        && bodies.match(bytes, in: 0..<version.body.byteCount, version.body)
    }
  }
}

/// The bytes of the bodies of a page, each computed once: every step compares them with files.
private final class BodyBytes: Sendable {
  // Used only by the simulation's thread.
  private let bodies = Mutex<[SimulatedBody: [UInt8]]>([:])

  /// Returns whether a range of a file, which must be within it, has the bytes of the body there.
  func match(_ file: [UInt8], in range: Range<Int64>, _ body: SimulatedBody) -> Bool {
    guard range.upperBound <= body.byteCount else { return false }
    let expected = bodies.withLock { bodies in
      if let bytes = bodies[body] { return bytes }
      let bytes = body[0..<body.byteCount]
      bodies[body] = bytes
      return bytes
    }
    let part = Int(range.lowerBound)..<Int(range.upperBound)
    return unsafe file[part].withUnsafeBytes { left in
      unsafe expected[part].withUnsafeBytes { right in
        guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else {
          return true
        }
        return unsafe memcmp(leftBase, rightBase, left.count) == 0
      }
    }
  }
}
