import ArgumentParser
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// `beagle submit`: a form.
struct SubmitCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Submit a form.",
        discussion: """
            GET and DELETE put the values into the query, POST and PUT into the body. Where the server refuses \
            fields, they are listed and the command ends with 22.

            EXAMPLE
              beagle submit http://127.0.0.1:8080/signup name=Ana email=ana@example.com
            """
    )

    @OptionGroup var address: Address

    @Argument(help: ArgumentHelp("The form's inputs in order; names may repeat.", valueName: "name=value"))
    var fields: [FieldArgument] = []

    @Option(name: [.customShort("X"), .long], help: "GET, POST, PUT or DELETE.")
    var method = FormMethod.post

    @Option(name: .long, help: "How a body is written: json or urlencoded.")
    var encoding: FormEncoding = .json

    @OptionGroup var flags: CommonFlags

    func validate() throws {
        if let index = fields.firstIndex(where: \.name.isEmpty) {
            // It is not repeated: it may hold a secret.
            throw ValidationError("Form field \(index + 1) has no name: write 'name=value'.")
        }
    }

    func request() throws -> TransferRequest {
        let form = Request.FormData(
            method: method.value,
            fields: fields.map { FormField($0.name, $0.value) },
            encoding: encoding.value
        )
        return try address.build(.submitForm(form))
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        CommandResult(
            json: received.json,
            output: received.output,
            note: received.body.isEmpty ? received.head.statusLine : nil
        )
    }
}

/// An input of a form: `name=value`.
struct FieldArgument: ExpressibleByArgument {
    /// The name; empty where there is none.
    let name: String
    let value: String

    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts.count == 2 ? String(parts[0]) : ""
        value = String(parts.last ?? "")
    }
}

enum FormMethod: String, ExpressibleByArgument, CaseIterable {
    case get, post, put, delete

    init?(argument: String) {
        self.init(rawValue: argument.lowercased())
    }

    var value: FormRemoteAction.Method {
        switch self {
        case .get: .get
        case .post: .post
        case .put: .put
        case .delete: .delete
        }
    }
}

enum FormEncoding: String, ExpressibleByArgument, CaseIterable {
    case json, urlencoded

    var value: Request.FormData.Encoding {
        self == .json ? .json : .urlEncoded
    }
}
