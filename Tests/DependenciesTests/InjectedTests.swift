import BeagleNetDependencies
import Dispatch
import Testing

struct InjectedTests {
    private struct Reader {
        @Injected(\.logger) var logger
        @Injected() var unnamed: any BeagleLogger
    }

    @Test func theReadersScopeComesBeforeTheBirthplace() {
        let reader = Beagle.withDependencies {
            $0.logger = MemoryLogger()
        } operation: {
            Reader()
        }
        Beagle.withDependencies(.test) {
            $0.logger = .off
        } operation: {
            #expect(reader.logger is OffLogger)
            #expect(reader.unnamed is OffLogger)
        }
    }

    @Test func whereTheReaderHasNoScopeTheBirthplaceAnswers() async {
        let reader = Beagle.withDependencies {
            $0.logger = MemoryLogger()
        } operation: {
            Reader()
        }
        let logger = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: reader.logger) }
        }
        #expect(logger is MemoryLogger)
    }

    @Test func aLoggerSetLaterIsRead() {
        Beagle.withDependencies(.test) {
            let reader = Reader()
            Beagle.dependencies.logger = MemoryLogger()
            #expect(reader.logger is MemoryLogger)
        }
    }

    @Test func aContainerGivenComesFirst() {
        let container = BeagleDependencies()
        container.logger = MemoryLogger()
        let injected = Injected(\.logger, from: container)
        Beagle.withDependencies {
            $0.logger = .off
        } operation: {
            #expect(injected.wrappedValue is MemoryLogger)
        }
    }
}
