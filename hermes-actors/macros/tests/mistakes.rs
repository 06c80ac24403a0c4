//! What the compiler says of a function that cannot be a tool: one small program for each mistake, named for it.

#[test]
fn mistakes_are_reported_in_words_where_they_stand() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
