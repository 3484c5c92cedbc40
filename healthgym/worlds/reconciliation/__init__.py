"""One patient's medication, in two half records, and the list on which two clinicians agree."""
