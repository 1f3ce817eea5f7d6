internal import Crypto

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The style sheet of pages.
///
/// Each page contains it: with a file of its own, the first paint would wait for a second answer, and
/// for the rows that arrive before that.
enum PageStyle {
  /// The rules; they contain no `<`, which could end the element.
  static let text = String(decoding: PackageResources.page_css, as: UTF8.self)

  /// The source of the content security policy that permits these rules and no others.
  static let source: String = {
    let digest = Data(SHA256.hash(data: Data(text.utf8)))
    return "'sha256-\(digest.base64EncodedString())'"
  }()
}
