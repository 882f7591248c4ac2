//! Templates of prompts, those of zones and of loops: checked when they are saved, and made into prompts when one is due.
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

/// What a template can name: things, and what there is to say of each.
pub(crate) type Names = &'static [(&'static str, &'static [&'static str])];

const FILTERS: &[&str] = &["default", "lower", "trim", "upper"];

/// The most tags, and the most words and signs in one: bounds how deep a template can be nested.
const TAGS_MAX: usize = 200;
const TOKENS_MAX: usize = 60;

/// The most steps of one rendering.
const FUEL: u64 = 50_000;

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateRefusal {
    #[error("{0}")]
    Syntax(String),
    #[error(
        "a template has at most {TAGS_MAX} tags, and a tag at most {TOKENS_MAX} words and signs"
    )]
    TooDeep,
    #[error("there is no {name:?}; a template can name {known}")]
    Unknown { name: String, known: String },
    #[error("{what} cannot be used in a template; values, `if`, and the filters {} can", FILTERS.join(", "))]
    NotAllowed { what: &'static str },
    #[error("it makes a prompt that cannot be sent: {0}")]
    Result(String),
}

/// The values that a template can name, by what they belong to.
pub(crate) type Values = BTreeMap<&'static str, BTreeMap<&'static str, String>>;

/// Checks a template that is about to be saved.
pub(crate) fn check(template: &PromptTemplate, names: Names) -> Result<(), TemplateRefusal> {
    let source = template.as_str();
    check_size(source)?;
    let parsed = parse(source, "template", SyntaxConfig::default()).map_err(syntax)?;
    statement(&parsed, names)
}

/// Makes the prompt; what a value is missing for is left out.
pub(crate) fn render(
    template: &PromptTemplate,
    names: Names,
    values: &Values,
) -> Result<Prompt, TemplateRefusal> {
    // Whatever is stored was checked, perhaps by another version.
    check(template, names)?;
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

fn known(names: Names) -> String {
    let of = |(name, fields): &(&str, &[&str])| {
        let fields: Vec<_> = fields
            .iter()
            .map(|field| format!("{name}.{field}"))
            .collect();
        fields.join(", ")
    };
    names.iter().map(of).collect::<Vec<_>>().join(", ")
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

fn statements(all: &[Stmt<'_>], names: Names) -> Result<(), TemplateRefusal> {
    all.iter().try_for_each(|one| statement(one, names))
}

fn statement(one: &Stmt<'_>, names: Names) -> Result<(), TemplateRefusal> {
    match one {
        Stmt::Template(template) => statements(&template.children, names),
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(emit) => expression(&emit.expr, names),
        Stmt::IfCond(condition) => {
            expression(&condition.expr, names)?;
            statements(&condition.true_body, names)?;
            statements(&condition.false_body, names)
        }
        _ => Err(TemplateRefusal::NotAllowed {
            what: "this statement",
        }),
    }
}

fn expression(one: &Expr<'_>, names: Names) -> Result<(), TemplateRefusal> {
    match one {
        Expr::Const(_) => Ok(()),
        Expr::Var(var) => named(var.id, names).map(drop),
        Expr::GetAttr(attribute) => match &attribute.expr {
            Expr::Var(var) if named(var.id, names)?.contains(&attribute.name) => Ok(()),
            Expr::Var(var) => Err(unknown(&format!("{}.{}", var.id, attribute.name), names)),
            _ => Err(unknown(attribute.name, names)),
        },
        Expr::UnaryOp(operation) if matches!(operation.op, UnaryOpKind::Not) => {
            expression(&operation.expr, names)
        }
        Expr::BinOp(operation) if is_plain(operation.op) => {
            expression(&operation.left, names)?;
            expression(&operation.right, names)
        }
        Expr::Compare(comparison) => {
            expression(&comparison.expr, names)?;
            comparison
                .ops
                .iter()
                .try_for_each(|it| expression(&it.expr, names))
        }
        Expr::IfExpr(condition) => {
            expression(&condition.test_expr, names)?;
            expression(&condition.true_expr, names)?;
            condition
                .false_expr
                .as_ref()
                .map_or(Ok(()), |it| expression(it, names))
        }
        Expr::Filter(filter) if FILTERS.contains(&filter.name) => {
            filter
                .expr
                .as_ref()
                .map_or(Ok(()), |it| expression(it, names))?;
            filter.args.iter().try_for_each(|it| argument(it, names))
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

fn argument(one: &CallArg<'_>, names: Names) -> Result<(), TemplateRefusal> {
    match one {
        CallArg::Pos(argument) => expression(argument, names),
        _ => Err(TemplateRefusal::NotAllowed {
            what: "a named argument",
        }),
    }
}

/// Returns what can be named of a thing.
fn named(name: &str, names: Names) -> Result<&'static [&'static str], TemplateRefusal> {
    let found = names.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, fields)| *fields)
        .ok_or_else(|| unknown(name, names))
}

fn unknown(name: &str, names: Names) -> TemplateRefusal {
    let name = name.chars().take(60).collect();
    TemplateRefusal::Unknown {
        name,
        known: known(names),
    }
}

/// Tells whether an operator makes nothing that is larger than what it is given.
fn is_plain(operator: BinOpKind) -> bool {
    use BinOpKind::{Concat, Eq, In, Ne, ScAnd, ScOr};
    matches!(operator, Eq | Ne | ScAnd | ScOr | Concat | In)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
