import BeagleNetHTTP

/// The rules of Beagle 1.10.3, whose output on the wire is reproduced with its flaws.
///
/// Members of JSON and query items are sorted, because Beagle sends them in random order. Requests that can't be sent,
/// or not safely, are rejected as usual.
extension HttpRequestBuilder {
    func beagle1(
        _ request: Request,
        _ options: TransferOptions,
        _ delivery: TransferRequest.Delivery
    ) throws(NetworkError) -> TransferRequest {
        // Beagle ignores any other type of additional data.
        let additional = request.additionalData as? HttpAdditionalData
        var url = try target(of: request)
        // Raw requests have no app-wide headers.
        var appWide: [String: String] = if case .rawRequest = request.type { [:] } else { environmentHeaders(for: url) }
        if !declaresOrigins { try checkForCredentials(appWide, "the environment's headers") }
        if origins.isEmpty || origins.contains(url.origin) {
            let names = Set(additionalHeaders.keys.map { $0.lowercased() })
            appWide = appWide.filter { !names.contains($0.key.lowercased()) }.merging(additionalHeaders) { $1 }
        }
        var headers = HeaderList()
        var message = RequestContent(method: .get)
        switch request.type {
        case .rawRequest(let data):
            message = try raw(data)
            appWide = [:]
            try add(data.headers ?? [:], to: &headers)
        case .submitForm(let form):
            message = try submission(form, additional?.httpData?.body)
            if [.get, .delete].contains(form.method) { url.replaceQuery(message.items) }
            try add(screenHeaders(additional, appWide), to: &headers)
        case .fetchComponent, .fetchImage:
            message.method = try HTTPRequest.Method(checking: additional?.httpData?.method.rawValue ?? "GET")
            message.body = additional?.httpData.map { HTTPBody($0.body) }
            try add(screenHeaders(additional, appWide), to: &headers)
        }
        url.append(request.query)
        return self.message(request, url, message.method, headers, message.body, scoped: appWide, options, delivery)
    }

    /// Returns the content of a raw request: a missing body becomes `{}`, and the body of a `GET`, in upper case, is
    /// dropped.
    private func raw(_ data: Request.RequestData) throws(NetworkError) -> RequestContent {
        let method = data.method ?? "GET"
        var content = RequestContent(method: try HTTPRequest.Method(checking: method))
        if method != "GET" {
            content.body = try (data.content ?? .json([:])).encoded(by: bodyEncoder, .escapingSlashes, form: .item)
        }
        return content
    }

    private func submission(_ form: Request.FormData, _ body: Data?) throws(NetworkError) -> RequestContent {
        try form.fields.checkRequired()
        try form.fields.checkNoFiles()
        let method = try HTTPRequest.Method(checking: form.method.rawValue)
        guard [.get, .delete].contains(form.method) else {
            return RequestContent(method: method, body: HTTPBody(try form.fields.object.data(.escapingSlashes)))
        }
        let items = form.fields.filter { !$0.isEmpty }.queryItems.sorted { $0.name < $1.name }
        return RequestContent(method: method, items: items, body: body.map { HTTPBody($0) })
    }

    private func screenHeaders(_ additional: HttpAdditionalData?, _ appWide: [String: String]) -> [String: String] {
        var headers = ["Content-Type": "application/json"]
        headers[HTTPField.Name.beaglePlatform.rawName] = platform
        headers.merge(additional?.headers ?? [:]) { $1 }
        headers.merge(appWide) { $1 }
        return headers
    }

    private func add(_ headers: [String: String], to list: inout HeaderList) throws(NetworkError) {
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { try list.add(name, value) }
    }
}
