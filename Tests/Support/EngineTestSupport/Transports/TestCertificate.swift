internal import Foundation

/// A self-signed certificate of `localhost` and 127.0.0.1 that is only for tests.
public enum TestCertificate {
  /// The certificate and its key, in PEM.
  public static let pem = """
    -----BEGIN CERTIFICATE-----
    MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
    CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOZnCwrlb3wntKzC
    8wlxswMOxUzch+NF1sDcRrJBpkw+oBbTpiL3qLLJAHnoOMiOorvDC6J4WrVkSq84
    paAOnvajTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJbG9j
    YWxob3N0MB0GA1UdDgQWBBQr88a3IXx18cv69LZmZfWubUIV7jAKBggqhkjOPQQD
    AgNIADBFAiEAv1SzzlhB6/IRli8lX6CTxt9cFQ47RZLR9TWANYrU9fACIGyGvD/N
    ihJV3y94FQlUq/RBuHA89tlVwNEWl2xWSHaK
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8lVcmYTjeIN3u420
    tia2sDBgaNnVFb2eAXDEJzR1x3uhRANCAATmZwsK5W98J7SswvMJcbMDDsVM3Ifj
    RdbA3EayQaZMPqAW06Yi96iyyQB56DjIjqK7wwuieFq1ZEqvOKWgDp72
    -----END PRIVATE KEY-----
    """

  /// Writes the certificate and its key to a file, and returns its path.
  public static func write(to folder: String) throws -> String {
    let path = "\(folder)/test-certificate.pem"
    try Data(pem.utf8).write(to: URL(filePath: path))
    return path
  }
}
