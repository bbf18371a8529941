import ArgumentParser

/// The options of commands that show one response, with curl's names.
struct ResponseFlags: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the body to this file, unless the status is an error. '-' is standard output.",
            valueName: "file"
        )
    )
    var output: String?

    @Flag(name: .shortAndLong, help: "Write the response headers, secrets included, before the body.")
    var include = false

    @OptionGroup var preview: PreviewFlags

    /// The file of `-o`, or `nil` if the body is written to standard output.
    var file: String? { output == "-" ? nil : output }

    func validate() throws {
        if output == "" { throw ValidationError("'-o' requires a file name.") }
    }
}

/// The options for showing a request instead of sending it.
struct PreviewFlags: ParsableArguments {
    @Flag(name: .long, help: "Show the request as HTTP/1.1 text, without secrets and body, instead of sending it.")
    var offline = false

    @Flag(name: .long, help: "Include secrets and the body in the output of --offline.")
    var showSecrets = false

    func validate() throws {
        if showSecrets && !offline { throw ValidationError("'--show-secrets' requires '--offline'.") }
    }
}
