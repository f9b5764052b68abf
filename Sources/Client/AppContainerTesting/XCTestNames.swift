// The names of XCTest, for files that import ContainerFoundation too.
//
// XCTest brings Foundation along, so that a file with both finds each name that ContainerFoundation has in place of
// Foundation's ambiguous. Imported name by name XCTest brings nothing else.

@_exported public import func XCTest.XCTAssert
@_exported public import func XCTest.XCTAssertEqual
@_exported public import func XCTest.XCTAssertFalse
@_exported public import func XCTest.XCTAssertGreaterThan
@_exported public import func XCTest.XCTAssertGreaterThanOrEqual
@_exported public import func XCTest.XCTAssertIdentical
@_exported public import func XCTest.XCTAssertLessThan
@_exported public import func XCTest.XCTAssertLessThanOrEqual
@_exported public import func XCTest.XCTAssertNil
@_exported public import func XCTest.XCTAssertNoThrow
@_exported public import func XCTest.XCTAssertNotEqual
@_exported public import func XCTest.XCTAssertNotIdentical
@_exported public import func XCTest.XCTAssertNotNil
@_exported public import func XCTest.XCTAssertThrowsError
@_exported public import func XCTest.XCTAssertTrue
@_exported public import func XCTest.XCTFail
@_exported public import class XCTest.XCTNSNotificationExpectation
@_exported public import class XCTest.XCTNSPredicateExpectation
@_exported public import struct XCTest.XCTPerformanceMetric
@_exported public import struct XCTest.XCTSkip
@_exported public import func XCTest.XCTSkipIf
@_exported public import func XCTest.XCTSkipUnless
@_exported public import func XCTest.XCTUnwrap
@_exported public import class XCTest.XCTWaiter
@_exported public import protocol XCTest.XCTWaiterDelegate
@_exported public import class XCTest.XCTestCase
@_exported public import class XCTest.XCTestExpectation
@_exported public import protocol XCTest.XCTestObservation
@_exported public import class XCTest.XCTestObservationCenter
