extension HTTPField.Name {
    /// The `Idempotency-Key` field, by which a server recognizes a request that it has already processed
    /// (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
