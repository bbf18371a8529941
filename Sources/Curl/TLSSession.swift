import BeagleNetHTTP
import CBeagleNetCurl

/// Says what was agreed on in a TLS handshake, where libcurl is built with OpenSSL.
///
/// libcurl tells no more than a pointer (https://curl.se/libcurl/c/CURLINFO_TLS_SSL_PTR.html). The functions that read
/// it are looked up in the OpenSSL that libcurl names as its own and that is part of the program already.
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
        return SharedLibrary.functions(of: file, isLoaded: true) { library in
            Library(
                version: try library.function("SSL_get_version"),
                cipher: try library.function("SSL_get_current_cipher"),
                cipherName: try library.function("SSL_CIPHER_get_name"),
                agreedProtocol: try library.function("SSL_get0_alpn_selected"),
                setEventCallback: try library.function("SSL_set_info_callback")
            )
        }
    }()

    /// What was agreed on last, which the next connection most likely does as well. OpenSSL's names are constants, so
    /// that equal pointers mean equal names.
    private var version: UnsafePointer<CChar>?
    private var cipher: UnsafePointer<CChar>?
    private var details: TransferMetrics.Details?

    /// The protocol's name that both ends of `easy`'s connection agreed on (RFC 7301), empty for none; nil where it is not
    /// told.
    func agreedProtocol(of easy: borrowing EasyHandle) -> String? {
        guard let library = Self.library, let session = beagle_easy_get_openssl(easy.pointer) else { return nil }
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        library.agreedProtocol(session, &name, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// Has the loop told of the server's close_notify on the connection that `easy` uses. libcurl 7.88 takes every end of a
    /// connection for a proper one.
    ///
    /// - Returns: what tells the session apart, for which OpenSSL calls on the loop's thread alone; `nil` where it doesn't tell.
    static func watchEnd(of easy: borrowing EasyHandle) -> UnsafeMutableRawPointer? {
        guard let library, let session = beagle_easy_get_openssl(easy.pointer) else { return nil }
        library.setEventCallback(session) { session, event, value in
            // An alert that was read (SSL_CB_READ_ALERT): its level, and close_notify, which is 0 (RFC 8446, 6).
            if event == 0x4004, value & 0xFF == 0, let session {
                EventLoop.current?.connections.noteGoodbye(in: session)
            }
        }
        return session
    }

    /// Version and cipher suite of the connection that `easy` uses; nil where they are not told.
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
