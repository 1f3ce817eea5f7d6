import Foundation
import Testing

@testable import ResumeData

/// Resume data written by iOS 10, from the article about ZYLDownloader.
enum GoldenSample {
  static let bytes = fixture("ios10.plist")
  /// SHA-256 of the fixture; it must never change.
  static let digest = "6e74137b561d79f20df729cf53332f0b0f50fd2e8aad61bf230232a2a7b92ced"
  static let url =
    "http://sbslive.cnrmobile.com/storage/storage2/18/01/18/46eeb50b3f21325a6f4bd0e8ba4d2357.3gp"

  /// The archive of the current request, as a binary property list.
  static var requestBytes: [UInt8] {
    (try? PropertyList(bytes).dictionary?["NSURLSessionResumeCurrentRequest"]?.data) ?? []
  }

  static func fixture(_ name: String) -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = folder.appending(path: "Fixtures").appending(path: name)
    return (try? Data(contentsOf: file)).map(Array.init) ?? []
  }
}
