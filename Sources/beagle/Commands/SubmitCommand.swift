import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The `beagle submit` command, which submits a form.
struct SubmitCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Submit a form.",
        discussion: """
            GET and DELETE send the values in the query, POST, PUT and PATCH in the body. Files are streamed from \
            disk. If the server rejects fields, they are listed and the command exits with 22.

            With --outbox, the form and its values are stored on disk before the request is sent, in clear text unless \
            --outbox-key is given. If there is no response, or its status is 408, 425, 429 or 5xx, the form stays in \
            the outbox, the command exits with 105, and 'beagle outbox flush' sends the form later. Headers with \
            credentials are not stored. A form with a secret field, such as a password, is sent without being stored \
            unless --outbox-secrets is given. Forms from earlier runs are sent first, and reported if the server \
            refuses them.

            EXAMPLE
              beagle submit http://127.0.0.1:8080/signup name=Ana email=ana@example.com
              beagle submit http://127.0.0.1:8080/signup \\
                name=Ana email=ana@example.com --outbox forms
              beagle image http://127.0.0.1:8080/img/banner.png -o banner.png
              beagle submit http://127.0.0.1:8080/upload \\
                title=Banner -F 'photo=@banner.png;type=image/png'
            """
    )

    @OptionGroup var address: Address

    @Argument(help: ArgumentHelp("Form fields, in order. Names may repeat.", valueName: "name=value"))
    var fields: [FieldArgument] = []

    @Option(name: [.customShort("X"), .long], help: "Request method.")
    var method = FormMethod.post

    @Option(name: .long, help: "Encoding of the body. (default: json, multipart with -F)")
    var encoding: FormEncoding?

    @Option(
        name: [.customShort("F"), .long],
        help: ArgumentHelp(
            """
            Field of a multipart form: text, or @FILE to upload a file. Sent after the name=value arguments. Append \
            ;type= or ;filename= to @FILE to set the media type or the file name. Repeatable.
            """,
            valueName: "name=value|@file"
        )
    )
    var form: [FormPart] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Store the form in this directory until the server has responded. Forms already stored there for the same \
            server are sent first.
            """,
            valueName: "directory"
        )
    )
    var outbox: String?

    @Flag(name: .long, help: "Store forms with secret fields, such as passwords, in the outbox too.")
    var outboxSecrets = false

    @OptionGroup var outboxKey: OutboxKeyFlags
    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    var kind: NetworkOperation.Kind { .form }

    func validate() throws {
        if let index = fields.firstIndex(where: \.name.isEmpty) {
            // The message doesn't repeat the field, which may be secret.
            throw ValidationError("Form field \(index + 1) has no name: write 'name=value'.")
        }
        if let index = form.firstIndex(where: { $0.field == nil }) {
            throw ValidationError("'-F' must be 'name=value' or 'name=@file'; field \(index + 1) is neither.")
        }
        if !form.isEmpty, let encoding, encoding != .multipart {
            throw ValidationError("'-F' makes a multipart form; leave out '--encoding \(encoding)'.")
        }
        if outbox == "" { throw ValidationError("'--outbox' requires a directory name.") }
        if outbox != nil, method == .get { throw ValidationError("'--outbox' cannot be used with GET.") }
        if outbox != nil, cache.folder != nil {
            throw ValidationError("'--outbox' and '--cache' cannot be used together.")
        }
        if outbox == nil, outboxSecrets || outboxKey.file != nil {
            throw ValidationError("'--outbox-key' and '--outbox-secrets' require '--outbox'.")
        }
    }

    func request() throws -> TransferRequest {
        let form = Request.FormData(
            method: method.value ?? .post,
            fields: fields.map { FormField($0.name, $0.value) } + form.compactMap(\.field),
            encoding: (encoding ?? (form.isEmpty ? .json : .multipart)).value
        )
        return try address.build(.submitForm(form), method == .patch ? .init(method: .PATCH) : nil)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        guard let outbox else {
            return try await session.receive(
                request,
                keepsBody: keepsBody,
                from: continuation,
                for: .init(kind: kind)
            )
        }
        return try await session.receive(
            request,
            through: Outbox(directory: outbox, key: try outboxKey.key()),
            retries.interceptors,
            notStoredBecause: reasonNotToStore
        )
    }

    /// The reason that the form must not be stored, or `nil` if it may be.
    private var reasonNotToStore: String? {
        if outboxSecrets { return nil }
        let redactor = Redactor()
        let names = fields.map(\.name) + form.compactMap(\.field?.name)
        guard let name = names.first(where: { redactor.isSecret(name: $0, length: .max) }) else { return nil }
        return "its field \(name.debugDescription) is secret; --outbox-secrets stores it"
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        CommandResult(
            json: received.json,
            output: received.output,
            note: received.body.isEmpty ? received.head.statusLine : nil
        )
    }
}

extension SubmitCommand {
    enum FormMethod: String, ExpressibleByArgument, CaseIterable {
        case get, post, put, patch, delete

        init?(argument: String) {
            self.init(rawValue: argument.lowercased())
        }

        /// The method of Beagle's forms, or `nil` for PATCH, which `HttpData` adds to them.
        var value: FormRemoteAction.Method? { .init(rawValue: rawValue.uppercased()) }
    }

    enum FormEncoding: String, ExpressibleByArgument, CaseIterable {
        case json, urlencoded, multipart

        var value: Request.FormData.Encoding {
            switch self {
            case .json: .json
            case .urlencoded: .urlEncoded
            case .multipart: .multipart
            }
        }
    }
}
