import BeagleNetTesting
import Foundation

/// lighttpd, which requires Digest with MD5 below `/md5/`, Digest with SHA-256 below `/sha256/` and Basic below
/// `/basic/`.
package final class LighttpdPeer: Sendable {
    /// The instance that all tests share. The user is `user`, the password `open sesame`.
    package static let shared = Result { try LighttpdPeer() }

    /// On Debian, only root has lighttpd in its `PATH`.
    private static let program: String? = ["/usr/sbin/lighttpd", "/usr/bin/lighttpd", "/opt/homebrew/bin/lighttpd"]
        .first { (path: String) in access(path, X_OK) == 0 }

    package static var isAvailable: Bool { program != nil }

    package let authority: String
    private let peer: Peer

    private init() throws {
        // A port that was free a moment ago may be in use when the server binds it.
        var attempt = 1
        while true {
            let server = try LoopbackServer(.close)
            server.stop()
            do {
                peer = try Peer(
                    Self.command,
                    files: ["lighttpd.conf": Self.configuration(server.port), "users": Self.users]
                )
                authority = server.authority
                return
            } catch  where attempt < 5 {
                attempt += 1
            }
        }
    }

    /// lighttpd doesn't report when it listens, so the script waits until the pid file is written.
    private static let command = """
        mkdir root && echo in > root/file && mkdir root/md5 root/sha256 root/basic &&
        for folder in md5 sha256 basic; do cp root/file root/$folder/file; done
        \(program ?? "lighttpd") -D -f lighttpd.conf 2>/dev/null &
        server=$!
        for try in 1 2 3 4 5 6 7 8 9 10; do if [ -s pid ]; then break; fi; sleep 0.1; done
        if [ -s pid ]; then echo ready; cat > /dev/null; fi
        kill $server; wait
        """

    /// The `htdigest` entries of `user` in `realm`, in lighttpd's format: MD5 and SHA-256 of `user:realm:open sesame`.
    private static let users = """
        user:realm:b15d09000773a63440d520022296c918
        user:realm:80c8dd577112eed5c12eb0cda7509e5c814d13733da20bf326e639e232ccb6d6

        """

    private static func configuration(_ port: UInt16) -> String {
        """
        server.modules = ("mod_auth", "mod_authn_file")
        server.document-root = var.CWD + "/root"
        server.pid-file = var.CWD + "/pid"
        server.bind = "127.0.0.1"
        server.port = \(port)
        auth.backend = "htdigest"
        auth.backend.htdigest.userfile = var.CWD + "/users"
        auth.require = (
            "/md5/" => ("method" => "digest", "algorithm" => "MD5", "realm" => "realm", "require" => "valid-user"),
            "/sha256/" => ("method" => "digest", "algorithm" => "SHA-256", "realm" => "realm", "require" => "valid-user"),
            "/basic/" => ("method" => "basic", "realm" => "realm", "require" => "valid-user")
        )
        """
    }
}
