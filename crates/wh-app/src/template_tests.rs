use super::*;

fn check(template: &PromptTemplate) -> Result<(), TemplateRefusal> {
    super::check(template, crate::zone::NAMES)
}

fn render(template: &PromptTemplate, values: &Values) -> Result<Prompt, TemplateRefusal> {
    super::render(template, crate::zone::NAMES, values)
}

fn template(text: &str) -> PromptTemplate {
    PromptTemplate::parse(text).unwrap()
}

fn values() -> Values {
    BTreeMap::from([
        (
            "worktree",
            BTreeMap::from([
                ("name", "parser".to_owned()),
                ("branch", "wh/parser".to_owned()),
            ]),
        ),
        ("zone", BTreeMap::from([("name", "Review".to_owned())])),
    ])
}

#[track_caller]
fn renders(text: &str, expected: &str) {
    assert_eq!(
        render(&template(text), &values()).unwrap().as_str(),
        expected
    );
}

#[test]
fn values_conditions_and_filters_make_a_prompt() {
    renders("Review {{ worktree.branch }}.", "Review wh/parser.");
    renders(
        "{{ zone.name | upper }}: {{ worktree.name ~ '!' }}",
        "REVIEW: parser!",
    );
    renders(
        "a{% if session %} in {{ session.title }}{% else %} alone{% endif %}",
        "a alone",
    );
    renders("{{ worktree.base | default('main') }}", "main");
    renders("{{ 'yes' if worktree.name == 'parser' else 'no' }}", "yes");
    renders(
        "{% raw %}{{ this is text }}{% endraw %}",
        "{{ this is text }}",
    );
    // What a value holds is text and never a template.
    let hostile = BTreeMap::from([(
        "worktree",
        BTreeMap::from([("name", "{{ session.id }}<b>".to_owned())]),
    )]);
    let made = render(&template("{{ worktree.name }}"), &hostile).unwrap();
    assert_eq!(made.as_str(), "{{ session.id }}<b>");
}

#[test]
fn unknown_names_and_broken_templates_are_refused_when_saved() {
    for text in [
        "{{ token }}",
        "{{ worktree.secret }}",
        "{{ session.title.x }}",
        "{% if env %}{% endif %}",
    ] {
        let refusal = check(&template(text)).unwrap_err();
        assert!(
            matches!(refusal, TemplateRefusal::Unknown { .. }),
            "{text}: {refusal}"
        );
    }
    for text in [
        "{{ worktree.name",
        "{% if worktree %}",
        "{{ }}",
        "{% endif %}",
    ] {
        let refusal = check(&template(text)).unwrap_err();
        assert!(
            matches!(refusal, TemplateRefusal::Syntax(_)),
            "{text}: {refusal}"
        );
    }
    // A prompt of nothing cannot be sent.
    let empty = template("{{ session.title }}");
    assert!(check(&empty).is_ok());
    assert!(matches!(
        render(&empty, &values()),
        Err(TemplateRefusal::Result(_))
    ));
}

#[test]
fn whatever_repeats_multiplies_or_calls_is_refused() {
    for text in [
        "{% for x in range(1000000000) %}x{% endfor %}",
        "{% set x = worktree.name %}",
        "{% set x %}a{% endset %}",
        "{% with a = 1 %}{% endwith %}",
        "{% filter upper %}a{% endfilter %}",
        "{% macro m() %}{{ m() }}{% endmacro %}",
        "{% include 'x' %}",
        "{{ 'a' * 100000000 }}",
        "{{ 2 ** 999 }}",
        "{{ worktree.name | replace('', worktree.name) }}",
        "{{ worktree.name | center(100000000) }}",
        "{{ range(10) }}",
        "{{ worktree.name.upper() }}",
        "{{ worktree['name'] }}",
        "{{ [worktree, worktree] }}",
        "{{ worktree.name[0:1] }}",
        "{{ worktree.name | default(**worktree) }}",
    ] {
        assert!(check(&template(text)).is_err(), "{text}");
    }
}

#[test]
fn deep_templates_are_refused_before_they_are_parsed() {
    let chain = |link: &str, n: usize| format!("{{{{ zone{} }}}}", link.repeat(n));
    let ifs = "{% if zone %}".repeat(1_000) + &"{% endif %}".repeat(1_000);
    let elifs = "{% if zone %}".to_owned() + &"{% elif zone %}".repeat(1_500) + "{% endif %}";
    for text in [
        chain(" ~ zone", 3_000),
        chain(".name", 5_000),
        chain("|upper", 5_000),
        format!("{{{{ {}zone }}}}", "not ".repeat(5_000)),
        format!("{{{{ {}zone{} }}}}", "(".repeat(5_000), ")".repeat(5_000)),
        ifs,
        elifs,
    ] {
        assert_eq!(check(&template(&text)), Err(TemplateRefusal::TooDeep));
    }
}
