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

  /// A self-signed certificate of `localhost` and 127.0.0.1 that expired on 2020-11-25.
  public static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBUzCB+qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDExMjUwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
    Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOF98JX2bX1OEieQnLNE
    MWK6FTYT0h10XQ28/oTkdF7u/hcdvKzuj01LuoWPUWPEh8IMr+Q2iHtGG+wOdrb5
    02ujPTA7MBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAdBgNVHQ4EFgQULsxK
    zdj0pyYLNwqf+CtzfhHfquEwCgYIKoZIzj0EAwIDSAAwRQIgBq1dzqnr0+QbKqln
    6h2rvziaDg1Ycu1WK+fr1Djl7A0CIQC8nB66X7t7SCo44tWlvnhBWfb3H/MR3Xer
    BVXH9tj25w==
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgk2l/j3OIcf84e/l4
    fLT5AswtUm8fTZ1j0hNme78GM1GhRANCAAThffCV9m19ThInkJyzRDFiuhU2E9Id
    dF0NvP6E5HRe7v4XHbys7o9NS7qFj1FjxIfCDK/kNoh7RhvsDna2+dNr
    -----END PRIVATE KEY-----
    """

  /// A self-signed certificate of `localhost` and 127.0.0.1 that is valid from 2100-01-01 on.
  public static let early = """
    -----BEGIN CERTIFICATE-----
    MIIBVjCB/qADAgECAgEDMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAiGA8yMTAwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIwEAYDVQQD
    DAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATtwlcti8E7QCtS
    fqk14H0Q6DnIB2VBCxGZKkrbBMoussIsiLK1rz8xrHNQIMf1mO34KY04Qrz371fp
    KWVO079Joz0wOzAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwHQYDVR0OBBYE
    FB1unbpSaePbwbWox7pose69Lw36MAoGCCqGSM49BAMCA0cAMEQCIHbHja0PZbrY
    bwXWKv6ObjN/5ne4lW40sEw+WtJ3XNrYAiBboCqkLUd4NMfGql8SENtcTq45197T
    14WUyK9gbNtu6g==
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/hkwQ2aTKo2b0eYo
    aOX4pWgF2vZ8/SJXicV8NvoBH0WhRANCAATtwlcti8E7QCtSfqk14H0Q6DnIB2VB
    CxGZKkrbBMoussIsiLK1rz8xrHNQIMf1mO34KY04Qrz371fpKWVO079J
    -----END PRIVATE KEY-----
    """

  /// A self-signed certificate of `other.example` and `www.other.example`.
  public static let other = """
    -----BEGIN CERTIFICATE-----
    MIIBcDCCARWgAwIBAgIBAjAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1vdGhlci5l
    eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
    VQQDDA1vdGhlci5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPtxF
    8cwaRdB7XrxKRvACdPYqf2x6q3cbAq3CuDzmVm+lajs9HRmkZe1YaFPVNz6MMrZN
    d4agYeS1L0whpeUZU6NOMEwwKwYDVR0RBCQwIoINb3RoZXIuZXhhbXBsZYIRd3d3
    Lm90aGVyLmV4YW1wbGUwHQYDVR0OBBYEFNSjZZY+6CGRnto9SQeUclI03pyJMAoG
    CCqGSM49BAMCA0kAMEYCIQD2OmK5VZVuADDpYzkAPLEI4Fv7xZg3EMiLPgh7518s
    6gIhAO7u/FMB0OcJshwA8PGCsTFNjmycK3BCNE33v5WorECu
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA9/lOeyrUoJ05L1j
    xvfYuTG6w0fWuu5RpN2VLga8HzWhRANCAAQ+3EXxzBpF0HtevEpG8AJ09ip/bHqr
    dxsCrcK4POZWb6VqOz0dGaRl7VhoU9U3Powytk13hqBh5LUvTCGl5RlT
    -----END PRIVATE KEY-----
    """

  /// A certificate of `localhost` and 127.0.0.1 that the owner of ``other`` has issued.
  public static let issued = """
    -----BEGIN CERTIFICATE-----
    MIIBezCCASGgAwIBAgIBBDAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1vdGhlci5l
    eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIwEAYD
    VQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARWNEZ9sBDY
    h6WLe5QmXSRNJUae3w3s99tgLfN26jFrICjRznDhN17B0zrL+WhshJIyoOd+qSWm
    q0+E7kb3yyo5o14wXDAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwHQYDVR0O
    BBYEFF7uszHEugwkL8sh6FXRtHE6dssaMB8GA1UdIwQYMBaAFNSjZZY+6CGRnto9
    SQeUclI03pyJMAoGCCqGSM49BAMCA0gAMEUCIQDEmC1jyjoaU7W/vso/mYQI1bMP
    90tlXvrmnfXEWZxH1QIgdT9D8LK0USJqeLm4PLN73DrPK/VaDKPXBxKA6dXBkq8=
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAaNGzy6qMnTZe92Z
    I87fKX4ntbUpod2eP6rGx8vZY++hRANCAARWNEZ9sBDYh6WLe5QmXSRNJUae3w3s
    99tgLfN26jFrICjRznDhN17B0zrL+WhshJIyoOd+qSWmq0+E7kb3yyo5
    -----END PRIVATE KEY-----
    """

  /// Writes the certificate and its key to a file, and returns its path.
  public static func write(_ pem: String = pem, to folder: String) throws -> String {
    let path = "\(folder)/test-certificate.pem"
    try Data(pem.utf8).write(to: URL(filePath: path))
    return path
  }
}
