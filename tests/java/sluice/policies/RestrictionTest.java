package sluice.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.junit.jupiter.api.Test;

final class RestrictionTest {

    @Test
    void aRestrictionIsReadFromJson() throws Exception {
        Restriction.Text text = read("""
            {"name": ["lake", "shop", "item"], "path": [["lake", "shop", "v"]], "rowFilter": "region = 'A'",
             "masks": {"card": "NULL", "mail": "upper(mail)"}, "isApart": true}
            """);
        Restriction found = text.parsed(CatalystSqlParser$.MODULE$);
        assertEquals(
            new Restriction.Place(List.of(List.of("lake", "shop", "v")), List.of("lake", "shop", "item")),
            text.place());
        assertEquals("('region = A)", found.rowFilter().toString());
        assertEquals("{card=null, mail='upper('mail)}", found.masks().toString());
        assertTrue(found.isApart());
    }

    @Test
    void nothingNeedsToBeRestricted() throws Exception {
        Restriction found = read("""
            {"name": ["lake", "shop", "item"], "path": [], "rowFilter": null, "masks": {}, "isApart": false}
            """).parsed(CatalystSqlParser$.MODULE$);
        assertNull(found.rowFilter());
        assertTrue(found.masks().isEmpty());
        assertFalse(found.isApart());
    }

    private static Restriction.Text read(String json) throws Exception {
        return new ObjectMapper().readValue(json, Restriction.Text.class);
    }
}
