import BeagleNetHTTP
import CBeagleNetCurl

/// A reader of the negotiated parameters of TLS sessions, if libcurl is built with OpenSSL.
///
/// libcurl provides only a pointer (https://curl.se/libcurl/c/CURLINFO_TLS_SSL_PTR.html). The functions that read it
/// are looked up in the OpenSSL library that libcurl reports and that is already loaded.
struct TLSSession {
    private typealias VersionName = @convention(c) (UnsafeMutableRawPointer) -> UnsafePointer<CChar>?
    private typealias Cipher = @convention(c) (UnsafeMutableRawPointer) -> OpaquePointer?
    private typealias CipherName = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?

    private typealias AgreedProtocol =
        @convention(c) (
            UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<UInt32>
        ) -> Void

    private typealias EventCallback = @convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> Void
    private typealias SetEventCallback = @convention(c) (UnsafeMutableRawPointer, EventCallback?) -> Void

    private struct Library {
        let version: VersionName
        let cipher: Cipher
        let cipherName: CipherName
        let agreedProtocol: AgreedProtocol
        let setEventCallback: SetEventCallback
    }

    private static let library: Library? = {
        guard let info = curl_version_info(CURLVERSION_FIRST), let name = info.pointee.ssl_version else { return nil }
        let backend = String(cString: name)
        guard backend.hasPrefix("OpenSSL/") else { return nil }
        let file = backend.hasPrefix("OpenSSL/1.1") ? "libssl.so.1.1" : "libssl.so.3"
        return SharedLibrary.functions(of: file, onlyIfLoaded: true) { library in
            Library(
                version: try library.function("SSL_get_version"),
                cipher: try library.function("SSL_get_current_cipher"),
                cipherName: try library.function("SSL_CIPHER_get_name"),
                agreedProtocol: try library.function("SSL_get0_alpn_selected"),
                setEventCallback: try library.function("SSL_set_info_callback")
            )
        }
    }()

    /// The most recent parameters, which the next connection will probably share. OpenSSL's names are constants, so
    /// equal pointers mean equal names.
    private var version: UnsafePointer<CChar>?
    private var cipher: UnsafePointer<CChar>?
    private var details: TransferMetrics.Details?

    /// Returns the protocol negotiated by ALPN (RFC 7301) on the connection of `easy`: empty if none was agreed on,
    /// `nil` if it is unknown.
    func agreedProtocol(of easy: borrowing EasyHandle) -> String? {
        guard let library = Self.library, let session = beagle_easy_get_openssl(easy.pointer) else { return nil }
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        library.agreedProtocol(session, &name, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// Notifies the loop of the server's close_notify on the connection of `easy`. libcurl 7.88 treats every end of a
    /// connection as a proper one.
    ///
    /// - Returns: The TLS session, whose callback OpenSSL calls only on the loop's thread; `nil` if the end can't be
    ///   watched.
    static func watchEnd(of easy: borrowing EasyHandle) -> UnsafeMutableRawPointer? {
        guard let library, let session = beagle_easy_get_openssl(easy.pointer) else { return nil }
        library.setEventCallback(session) { session, event, value in
            // A received alert (SSL_CB_READ_ALERT): its level, and in the low byte close_notify, which is 0 (RFC 8446,
            // 6).
            if event == 0x4004, value & 0xFF == 0, let session {
                LoopThread.loop?.connections.noteCloseNotify(in: session)
            }
        }
        return session
    }

    /// Returns the version and cipher suite of the connection of `easy`, or `nil` if they are unknown.
    mutating func details(of easy: borrowing EasyHandle) -> TransferMetrics.Details? {
        guard let library = Self.library, let session = beagle_easy_get_openssl(easy.pointer),
            let version = library.version(session), let cipher = library.cipherName(library.cipher(session))
        else { return nil }
        if version != self.version || cipher != self.cipher {
            (self.version, self.cipher) = (version, cipher)
            details = TransferMetrics.Details(
                tlsVersion: String(cString: version),
                tlsCipher: String(cString: cipher)
            )
        }
        return details
    }
}
