//! The templates of zones: checked when they are saved, and made into prompts when something is placed.
//!
//! What a template may hold is a list of what is allowed: text, known values, a few filters and conditions. There is nothing
//! that repeats and nothing that multiplies, so that a prompt is never much larger than its template and what it names; fuel
//! and a limit on the result stand behind that.

use std::collections::BTreeMap;

use minijinja::{
    Environment, UndefinedBehavior, Value, filters,
    machinery::{
        Token,
        ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind},
        parse, tokenize,
    },
    syntax::SyntaxConfig,
};
use wh_domain::{Prompt, PromptTemplate};

/// What a template can name.
const NAMES: &[(&str, &[&str])] = &[
    ("board", &["id", "link", "name"]),
    ("session", &["agent", "id", "link", "status", "title"]),
    (
        "worktree",
        &["base", "branch", "id", "link", "name", "repo", "status"],
    ),
    ("zone", &["name"]),
];

const FILTERS: &[&str] = &["default", "lower", "trim", "upper"];

/// The most tags, and the most words and signs in one: bounds how deep a template can be nested.
const TAGS_MAX: usize = 200;
const TOKENS_MAX: usize = 60;

/// The most steps of one rendering.
const FUEL: u64 = 50_000;

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateRefusal {
    #[error("{0}")]
    Syntax(String),
    #[error(
        "a template has at most {TAGS_MAX} tags, and a tag at most {TOKENS_MAX} words and signs"
    )]
    TooDeep,
    #[error("there is no {name:?}; a template can name {}", known())]
    Unknown { name: String },
    #[error("{what} cannot be used in a template; values, `if`, and the filters {} can", FILTERS.join(", "))]
    NotAllowed { what: &'static str },
    #[error("it makes a prompt that cannot be sent: {0}")]
    Result(String),
}

/// The values that a template can name, by what they belong to.
pub(crate) type Values = BTreeMap<&'static str, BTreeMap<&'static str, String>>;

/// Checks a template that is about to be saved.
pub(crate) fn check(template: &PromptTemplate) -> Result<(), TemplateRefusal> {
    let source = template.as_str();
    check_size(source)?;
    let parsed = parse(source, "template", SyntaxConfig::default()).map_err(syntax)?;
    statement(&parsed)
}

/// Makes the prompt; what a value is missing for is left out.
pub(crate) fn render(
    template: &PromptTemplate,
    values: &Values,
) -> Result<Prompt, TemplateRefusal> {
    // Whatever is stored was checked, perhaps by another version.
    check(template)?;
    let mut environment = Environment::empty();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.add_filter("default", filters::default);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("upper", filters::upper);
    let of = |(name, values): (&&'static str, &BTreeMap<&'static str, String>)| {
        let value = |(name, value): (&&'static str, &String)| (*name, Value::from(value.as_str()));
        let values: BTreeMap<_, _> = values.iter().map(value).collect();
        (*name, Value::from(values))
    };
    let values: BTreeMap<_, _> = values.iter().map(of).collect();
    let text = environment
        .render_str(template.as_str(), Value::from(values))
        .map_err(|error| TemplateRefusal::Result(error.to_string()))?;
    Prompt::parse(&text).map_err(|refusal| TemplateRefusal::Result(refusal.to_string()))
}

fn known() -> String {
    let of = |(name, fields): &(&str, &[&str])| {
        let fields: Vec<_> = fields
            .iter()
            .map(|field| format!("{name}.{field}"))
            .collect();
        fields.join(", ")
    };
    NAMES.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn syntax(error: minijinja::Error) -> TemplateRefusal {
    let line = error
        .line()
        .map_or(String::new(), |line| format!(" in line {line}"));
    let detail = error.detail().unwrap_or("it cannot be read");
    TemplateRefusal::Syntax(format!("{detail}{line}"))
}

/// Bounds the depth of what is parsed, which the parser goes into by recursion.
fn check_size(source: &str) -> Result<(), TemplateRefusal> {
    let (mut tags, mut tokens) = (0, 0);
    for token in tokenize(source, false, SyntaxConfig::default()) {
        match token.map_err(syntax)?.0 {
            Token::VariableStart | Token::BlockStart => (tags, tokens) = (tags + 1, 0),
            _ => tokens += 1,
        }
        if tags > TAGS_MAX || tokens > TOKENS_MAX {
            return Err(TemplateRefusal::TooDeep);
        }
    }
    Ok(())
}

fn statements(all: &[Stmt<'_>]) -> Result<(), TemplateRefusal> {
    all.iter().try_for_each(statement)
}

fn statement(one: &Stmt<'_>) -> Result<(), TemplateRefusal> {
    match one {
        Stmt::Template(template) => statements(&template.children),
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(emit) => expression(&emit.expr),
        Stmt::IfCond(condition) => {
            expression(&condition.expr)?;
            statements(&condition.true_body)?;
            statements(&condition.false_body)
        }
        _ => Err(TemplateRefusal::NotAllowed {
            what: "this statement",
        }),
    }
}

fn expression(one: &Expr<'_>) -> Result<(), TemplateRefusal> {
    match one {
        Expr::Const(_) => Ok(()),
        Expr::Var(var) => named(var.id).map(drop),
        Expr::GetAttr(attribute) => match &attribute.expr {
            Expr::Var(var) if named(var.id)?.contains(&attribute.name) => Ok(()),
            Expr::Var(var) => Err(unknown(&format!("{}.{}", var.id, attribute.name))),
            _ => Err(unknown(attribute.name)),
        },
        Expr::UnaryOp(operation) if matches!(operation.op, UnaryOpKind::Not) => {
            expression(&operation.expr)
        }
        Expr::BinOp(operation) if is_plain(operation.op) => {
            expression(&operation.left)?;
            expression(&operation.right)
        }
        Expr::Compare(comparison) => {
            expression(&comparison.expr)?;
            comparison
                .ops
                .iter()
                .try_for_each(|it| expression(&it.expr))
        }
        Expr::IfExpr(condition) => {
            expression(&condition.test_expr)?;
            expression(&condition.true_expr)?;
            condition.false_expr.as_ref().map_or(Ok(()), expression)
        }
        Expr::Filter(filter) if FILTERS.contains(&filter.name) => {
            filter.expr.as_ref().map_or(Ok(()), expression)?;
            filter.args.iter().try_for_each(argument)
        }
        Expr::Filter(_) => Err(TemplateRefusal::NotAllowed {
            what: "this filter",
        }),
        other => Err(TemplateRefusal::NotAllowed {
            what: match other {
                Expr::Call(_) => "a call",
                _ => "this expression",
            },
        }),
    }
}

fn argument(one: &CallArg<'_>) -> Result<(), TemplateRefusal> {
    match one {
        CallArg::Pos(argument) => expression(argument),
        _ => Err(TemplateRefusal::NotAllowed {
            what: "a named argument",
        }),
    }
}

/// Returns what can be named of a thing.
fn named(name: &str) -> Result<&'static [&'static str], TemplateRefusal> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, fields)| *fields)
        .ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> TemplateRefusal {
    let name = name.chars().take(60).collect();
    TemplateRefusal::Unknown { name }
}

/// Tells whether an operator makes nothing that is larger than what it is given.
fn is_plain(operator: BinOpKind) -> bool {
    use BinOpKind::{Concat, Eq, In, Ne, ScAnd, ScOr};
    matches!(operator, Eq | Ne | ScAnd | ScOr | Concat | In)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
