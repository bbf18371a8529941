package import BeagleNet

extension Result where Failure == NetworkError {
    package init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(NetworkError(wrapping: error))
        }
    }

    package var failure: NetworkError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
