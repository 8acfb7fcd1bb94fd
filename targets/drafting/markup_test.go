package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

const parcel = `curl a/parcels -H 'Content-Type: text/xml; charset=utf-8' -d '<?xml version="1.0"?>
<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header><MessageId>m-1</MessageId></s:Header><s:Body>
  <p:Parcel price="$1" xmlns:p="urn:p"><p:Addressee title="Ms">Ada &amp; Co</p:Addressee><Grams>750</Grams><Line><Sku>a</Sku></Line><Line><Sku>b</Sku></Line><Note/><Empty> </Empty>{{x}}</p:Parcel>
</s:Body></s:Envelope>'`

func TestABodyOfXMLHasItsTextsAsMembers(t *testing.T) {
	t.Parallel()
	c, err := ReadCurl(parcel)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"MessageId": "m-1", "Addressee": "Ada & Co", "Grams": "750", "Sku": "a", "Sku2": "b"}, c.Body)
	require.Contains(t, c.Written, `<p:Addressee title="Ms">{{.Addressee}}</p:Addressee><Grams>{{.Grams}}</Grams><Line><Sku>{{.Sku}}</Sku></Line><Line><Sku>{{.Sku2}}</Sku></Line><Note/><Empty> </Empty>{{"{{"}}x}}</p:Parcel>`)
	d := c.Draft("API")
	require.Equal(t, map[string]string{"Content-Type": "text/xml; charset=utf-8"}, d.Header)
	require.Contains(t, d.Others, Other{Pointer: "/Grams", Value: "751"})
	text, err := File{Dialect: databases.SQLite, Draft: d}.Text()
	require.NoError(t, err)
	require.Contains(t, text, "      text:\n        Addressee: ")
	require.Contains(t, text, `price="$$1"`)
	for _, other := range []string{"<a>", "<a><b></a>", "a < b", "<a>&nope;</a>"} {
		require.False(t, isMarkup(other), other)
	}
}

func TestAnAnswerOfXMLNamesWhatWasCreated(t *testing.T) {
	t.Parallel()
	answer := `<s:Envelope xmlns:s="x"><s:Body><Weight>17</Weight><p:ParcelNumber kind="long"> 17 </p:ParcelNumber><Link>PCL-0017</Link></s:Body></s:Envelope>`
	named := inText(answer, "id", "17", false)
	require.Equal(t, "17", named.In(answer), "a weight is no id")
	require.Equal(t, "18", named.In(`<ParcelNumber>18</ParcelNumber>`))
	require.Empty(t, named.In(`<ParcelNumber></ParcelNumber>`))
	require.Empty(t, inText(answer, "id", "7", false))
	c := Created{Marker: "m", Status: 200, Dialect: databases.SQLite, Text: `<Reference>PCL-0017</Reference>`}
	named, column, shown := c.identity(landed("17"), Draft{})
	require.Equal(t, "id", column)
	require.Equal(t, "PCL-0018", shown.Of("18"))
	require.Equal(t, "PCL-0018", named.In("<Reference>PCL-0018</Reference>"))
	require.Equal(t, contract.Identity{}, inText("", "id", "17", false))
}

// What is said in attributes alone is read there, and beside texts what is called like an id.
func TestABodyOfXMLHasItsAttributesAsMembers(t *testing.T) {
	t.Parallel()
	c, err := ReadCurl(`curl a/shipments -H 'Content-Type: application/xml' -d '<?xml version="1.0" encoding="UTF-8"?><shipment xmlns="urn:s" schemaVersion="2" ref="S-1" consignee="Ada"><parcel weight="300"/><parcel weight="400"/></shipment>'`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"ref": "S-1", "consignee": "Ada", "weight": "300", "weight2": "400"}, c.Body)
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?><shipment xmlns="urn:s" schemaVersion="2" ref="{{.ref}}" consignee="{{.consignee}}"><parcel weight="{{.weight}}"/><parcel weight="{{.weight2}}"/></shipment>`, c.Written)
	c, err = ReadCurl(`curl a/shipments -H 'Content-Type: application/xml' -d '<shipment ref="S-1" kind="air"><note lang="en">fragile a="b"</note></shipment>'`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"ref": "S-1", "note": `fragile a="b"`}, c.Body)
	require.Equal(t, `<shipment ref="{{.ref}}" kind="air"><note lang="en">{{.note}}</note></shipment>`, c.Written)

	answer := `<?xml version="1.0"?><r:answer status="17"><shipment weight="17" id="17" state="new"/></r:answer>`
	named := inText(answer, "id", "17", false)
	require.Equal(t, "18", named.In(`<r:answer status="ok"><shipment weight="3" id="18"/></r:answer>`))
	require.Empty(t, inText(answer, "id", "7", false))
}

func landed(id string) databases.Landing {
	return databases.Landing{
		Table: databases.Table{Name: "parcels", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}, {Name: "note"}}},
		Row:   map[string]string{"id": id, "note": "m"}, Columns: []string{"note"},
	}
}
