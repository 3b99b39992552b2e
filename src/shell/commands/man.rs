//! `outcrop man`: the manual page, in the format of man(7).

use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::{definition, output};

pub(in crate::shell) fn run() -> Result<Exit, Failure> {
    let mut page = Vec::new();
    let definition = definition();
    clap_mangen::Man::new(definition.clone()).render(&mut page)?;
    // One page for all: a reader should not have to know the names of the sub-pages.
    for command in definition.get_subcommands().filter(|command| !command.is_hide_set()) {
        let named = command.clone().name(format!("outcrop {}", command.get_name())).disable_version_flag(true);
        let sub = clap_mangen::Man::new(named);
        page.extend_from_slice(format!("\n.SH \"OUTCROP {}\"\n", command.get_name().to_uppercase()).as_bytes());
        let mut body = Vec::new();
        sub.render_description_section(&mut body)?;
        sub.render_synopsis_section(&mut body)?;
        sub.render_options_section(&mut body)?;
        page.extend_from_slice(String::from_utf8_lossy(&body).replace(".SH ", ".SS ").as_bytes());
    }
    output::print(&page)?;
    Ok(Exit::Clean)
}
