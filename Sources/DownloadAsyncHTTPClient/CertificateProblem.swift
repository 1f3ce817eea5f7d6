#if AsyncHTTPClient
  internal import DownloadSync
  internal import Foundation
  internal import NIOSSL

  extension CertificateProblem {
    /// Finds the problem of a rejected certificate.
    ///
    /// Pure. The check has already rejected the certificate: this only says why.
    ///
    /// - Parameters:
    ///   - certificate: The server's own certificate.
    ///   - isForOtherHost: Whether the certificate was rejected because of its names.
    ///   - now: The current time.
    init(of certificate: CertificateFacts, isForOtherHost: Bool, now: Date) {
      if isForOtherHost {
        self = .otherHosts(certificate.names)
      } else if certificate.end < now {
        self = .expired(day: Self.day(certificate.end))
      } else if certificate.start > now {
        self = .notYetValid(day: Self.day(certificate.start))
      } else {
        self = certificate.isSelfSigned ? .selfSigned : .unknownIssuer
      }
    }

    /// The day of a date, in UTC.
    private static func day(_ date: Date) -> String {
      date.formatted(.iso8601.year().month().day())
    }
  }

  /// The facts of a certificate that explain its rejection.
  struct CertificateFacts: Sendable, Hashable {
    var start: Date
    var end: Date
    /// The DNS names and the IP addresses.
    var names: [String]
    /// Whether subject and issuer are equal.
    var isSelfSigned: Bool
  }

  extension CertificateFacts {
    init(_ certificate: NIOSSLCertificate) {
      start = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
      end = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
      names = certificate._subjectAlternativeNames().compactMap { name in
        switch name.nameType {
        case .dnsName: String(decoding: name.contents, as: UTF8.self)
        case .ipAddress: Self.address(Array(name.contents))
        default: nil
        }
      }
      isSelfSigned = (try? certificate.toDERBytes()).map(Self.isSelfSigned) ?? false
    }

    /// Returns an IP address as text; `nil` if its length is that of none.
    private static func address(_ bytes: [UInt8]) -> String? {
      switch bytes.count {
      case 4: bytes.map(String.init).joined(separator: ".")
      case 16:
        stride(from: 0, to: 16, by: 2)
          .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
          .joined(separator: ":")
      default: nil
      }
    }

    /// Whether issuer and subject of a certificate in DER are equal (RFC 5280, 4.1).
    static func isSelfSigned(_ bytes: [UInt8]) -> Bool {
      var outer = DERReader(bytes[...])
      var certificate = DERReader(outer.next()?.content ?? [])
      var fields = DERReader(certificate.next()?.content ?? [])
      // The version is optional; serial number and algorithm follow.
      guard let first = fields.next(), first.tag != 0xA0 || fields.next() != nil,
        fields.next() != nil, let issuer = fields.next(), fields.next() != nil,
        let subject = fields.next()
      else { return false }
      return issuer == subject
    }
  }

  /// Reads the elements of a DER sequence (X.690).
  struct DERReader {
    struct Element: Equatable {
      var tag: UInt8
      var content: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next element; `nil` at the end, or if it is not one.
    mutating func next() -> Element? {
      guard let tag = rest.popFirst(), var length = rest.popFirst().map(Int.init) else {
        return nil
      }
      if length >= 0x80 {
        // A certificate is shorter than 16 MiB.
        let count = length & 0x7F
        guard (1...3).contains(count), rest.count >= count else { return nil }
        length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest.removeFirst(count)
      }
      guard rest.count >= length else { return nil }
      defer { rest.removeFirst(length) }
      return Element(tag: tag, content: rest.prefix(length))
    }
  }
#endif
