import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import Foundation

/// The options for authentication, cookies and other state that is kept between runs, with curl's names.
struct AccessFlags: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Server user and password. Uses Basic authentication unless --digest is given.",
            valueName: "user:password"
        )
    )
    var user: String?

    @Flag(name: .long, help: "Use HTTP Digest authentication with --user. The password is not sent.")
    var digest = false

    @Option(name: .customLong("oauth2-bearer"), help: ArgumentHelp("OAuth 2.0 bearer token.", valueName: "token"))
    var bearer: String?

    @Flag(name: .shortAndLong, help: "Read user and password from .netrc in the home directory.")
    var netrc = false

    @Option(name: .long, help: ArgumentHelp("Read user and password from this netrc file.", valueName: "file"))
    var netrcFile: String?

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp(
            "Send these cookies. Without '=', enable the cookie engine, and read cookies from this file. Repeatable.",
            valueName: "name=value|file"
        )
    )
    var cookie: [String] = []

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp("Enable the cookie engine, and save its cookies to this file at the end.", valueName: "file")
    )
    var cookieJar: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Enable HSTS, and load and save its cache in this file.", valueName: "file")
    )
    var hsts: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Enable Alt-Svc, and load and save its cache in this file.", valueName: "file")
    )
    var altSvc: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Maximum number of redirects to follow. (default: 10)", valueName: "number")
    )
    var maxRedirs: Int?

    @Flag(
        name: .long,
        help: "Connect to public addresses only, not to loopback, private or cloud metadata addresses."
    )
    var publicOnly = false

    func validate() throws {
        // Messages don't repeat values, because they are secret.
        if user?.contains(":") == false { throw ValidationError("'--user' must be 'user:password'.") }
        if digest && user == nil { throw ValidationError("'--digest' requires '--user'.") }
        let ways = [user != nil, bearer != nil, netrc || netrcFile != nil]
        if ways.count(where: \.self) > 1 {
            throw ValidationError("'--user', '--oauth2-bearer' and '--netrc' cannot be used together.")
        }
        if let maxRedirs, maxRedirs < 0 { throw ValidationError("'--max-redirs' must be 0 or greater.") }
    }

    /// Applies the options of a single transfer.
    func apply(to options: inout TransferOptions) {
        if let user {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let credentials = Credentials(user: parts[0], password: parts[1])
            options.authentication = digest ? .digest(credentials) : .basic(credentials)
        } else if let bearer {
            options.authentication = .bearer(bearer)
        } else if netrc || netrcFile != nil {
            options.authentication = .netrc(path: netrcFile)
        }
        if let maxRedirs { options.redirects.limit = maxRedirs }
        if publicOnly { options.addressGuard = .publicOnly }
    }

    /// Adds the cookies of the command line to a request.
    func apply(to head: inout HTTPRequest) {
        let cookies = cookie.filter { $0.contains("=") }
        guard !cookies.isEmpty else { return }
        head.headerFields[.cookie] = ([head.headerFields[.cookie]].compactMap(\.self) + cookies).joined(separator: "; ")
    }

    /// A transport configuration with the stores that the options require.
    var configuration: CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        if cookieJar != nil || !cookieFiles.isEmpty { configuration.cookies = CookieJar() }
        if hsts != nil { configuration.hsts = HSTSStore() }
        if altSvc != nil { configuration.altSvc = AltSvcStore() }
        return configuration
    }

    private var cookieFiles: [String] { cookie.filter { !$0.contains("=") } }

    /// Loads the stored state, and reports lines that were skipped. The files of `--hsts` and `--alt-svc` needn't exist
    /// yet.
    ///
    /// - Throws: `NetworkError` of kind `.file`.
    func load(into configuration: CurlTransport.Configuration, _ console: Console) throws(NetworkError) {
        var skipped: [NetworkError] = []
        for file in cookieFiles {
            let jar = try CookieJar(contentsOf: file, onSkippedLine: { skipped.append($0) })
            for cookie in jar.cookies { configuration.cookies?.set(cookie) }
        }
        if let hsts, FileManager.default.fileExists(atPath: hsts) {
            for host in try HSTSStore(contentsOf: hsts, onSkippedLine: { skipped.append($0) }).hosts {
                configuration.hsts?.set(host)
            }
        }
        if let altSvc, FileManager.default.fileExists(atPath: altSvc) {
            for service in try AltSvcStore(contentsOf: altSvc, onSkippedLine: { skipped.append($0) }).services {
                try configuration.altSvc?.add(service)
            }
        }
        for error in skipped.prefix(3) { console.note("beagle: skipped a line: \(error.message)".printable) }
        if skipped.count > 3 { console.note("beagle: skipped \(counted(skipped.count - 3, "more line"))") }
    }

    /// Saves the state for the next run.
    ///
    /// - Throws: `NetworkError` of kind `.file`.
    func save(_ configuration: CurlTransport.Configuration) throws(NetworkError) {
        if let cookieJar { try configuration.cookies?.save(to: cookieJar) }
        if let hsts { try configuration.hsts?.save(to: hsts) }
        if let altSvc { try configuration.altSvc?.save(to: altSvc) }
    }

    /// Replaces API names in a message with the options that they correspond to.
    func replacingAPINames(_ text: String) -> String {
        let name = netrc ? "--netrc" : netrcFile != nil ? "--netrc-file" : bearer != nil ? "--oauth2-bearer" : "--user"
        return text.replacing("TransferOptions.authentication", with: name)
            .replacing("AddressGuard.publicOnly", with: "--public-only")
    }
}
